/** The kernel: what widens the way into it, and what all processes of a machine share. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Attack, bash, python } from '../attack.ts';
import { anywhere, descriptor, exists, loot, processShows } from '../evidence.ts';
import { openPerformanceCounter, throughOldEntrance } from '../kernel-calls.ts';

const filter = 'system-call filter';

/** Its user is root of a user namespace of one user: bwrap's own maps 1000. */
const newUserNamespace = processShows('uid_map', (text) => /^\s*0\s+\d+\s+1\s*$/.test(text));

/** A child that is root of its own namespace, by a raw call that gives a pid as fork does. */
const asRootOfItsOwn = (fork: string) =>
  python(`
user = os.getuid()
${fork}
if child == 0:
    with open("/proc/self/uid_map", "w") as file:
        file.write(f"0 {user} 1")
    hold()
os.waitpid(child, 0)`);

export const kernelAttacks: readonly Attack[] = [
  {
    id: 'kernel/user-namespace',
    title: 'becomes root of a user namespace, by unshare',
    stoppedBy: 'no nested user namespaces; system-call filter',
    needs: ['user-namespaces'],
    program: bash('unshare -Ur sleep 3'),
    evidence: newUserNamespace,
  },
  {
    id: 'kernel/clone-namespace',
    title: 'becomes root of a user namespace, by clone',
    stoppedBy: 'no nested user namespaces; system-call filter',
    needs: ['user-namespaces'],
    program: asRootOfItsOwn(
      'child = call(56 if os.uname().machine == "x86_64" else 220, 0x10000000 | 17, 0, 0, 0, 0)',
    ),
    evidence: newUserNamespace,
  },
  {
    id: 'kernel/clone3-namespace',
    title: 'becomes root of a user namespace, by clone3, whose flags no filter can read',
    stoppedBy: 'no nested user namespaces; clone3 does not exist',
    needs: ['user-namespaces'],
    program: asRootOfItsOwn(
      'child = call("clone3", ctypes.create_string_buffer(struct.pack("<11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88), 88)',
    ),
    evidence: newUserNamespace,
  },
  {
    id: 'kernel/mount',
    title: 'mounts something, in a namespace of its own if need be',
    stoppedBy: 'no capabilities, no nested user namespaces; system-call filter',
    needs: ['user-namespaces'],
    program: bash('unshare -Urm bash -c \'mount -t tmpfs "$MARK" /tmp && sleep 3\''),
    evidence: processShows('mountinfo', (text, { mark }) => text.includes(` - tmpfs ${mark} `)),
  },
  {
    id: 'kernel/io_uring',
    title: 'opens io_uring',
    stoppedBy: filter,
    needs: ['io_uring'],
    program: python('call("io_uring_setup", 8, ctypes.create_string_buffer(256))\nhold()'),
    evidence: descriptor(/io_uring/),
  },
  {
    id: 'kernel/old-entrance',
    title: 'opens io_uring by a 32-bit call, past filters that know 64-bit numbers only (int 0x80)',
    stoppedBy: 'system-call filter: another architecture ends the process',
    needs: ['old-entrance'],
    program: python(`${throughOldEntrance}\nhold()`),
    evidence: descriptor(/io_uring/),
  },
  {
    id: 'kernel/x32',
    title: 'opens io_uring by an x32 call',
    stoppedBy: 'system-call filter: x32 does not exist',
    needs: ['x32', 'io_uring'],
    program: python('call(0x40000000 | 425, 8, ctypes.create_string_buffer(256))\nhold()'),
    evidence: descriptor(/io_uring/),
  },
  {
    id: 'kernel/bpf',
    title: 'gives the kernel memory of its own by bpf',
    stoppedBy: 'no capabilities; system-call filter',
    needs: ['root'],
    program: python(`
attributes = ctypes.create_string_buffer(struct.pack("<IIIII", 2, 4, 4, 1, 0), 128)
call("bpf", 0, attributes, 128)
hold()`),
    evidence: descriptor(/bpf-map/),
  },
  {
    id: 'kernel/userfaultfd',
    title: 'stops the kernel in the middle of a copy (userfaultfd)',
    stoppedBy: filter,
    needs: ['userfaultfd'],
    program: python('call("userfaultfd", 1)\nhold()'),
    evidence: descriptor(/userfaultfd/),
  },
  {
    id: 'kernel/performance-counters',
    title: 'measures the machine by its performance counters',
    stoppedBy: filter,
    needs: ['perf'],
    program: python(`${openPerformanceCounter}\nhold()`),
    evidence: descriptor(/perf_event/),
  },
  {
    id: 'kernel/fanotify',
    title: 'has the kernel tell what others do with files',
    stoppedBy: filter,
    needs: ['fanotify'],
    program: python('call("fanotify_init", 0x200, 0)\nhold()'),
    evidence: descriptor(/fanotify/),
  },
  {
    id: 'kernel/keyring',
    title: 'leaves a key in the kernel for the next run of the same user',
    stoppedBy: filter,
    // The keyring of the user, which stays when the process has gone; for half a minute, so that none is left of a test.
    program: python(`
key = call("add_key", b"user", env["MARK"].encode(), b"stolen", 6, -4)
call("keyctl", 15, key, 30)`),
    evidence: anywhere(({ mark, keys }) => keys().includes(mark)),
  },
  {
    id: 'kernel/shared-memory',
    title: 'reads shared memory of the server',
    stoppedBy: 'IPC namespace',
    program: python(`
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(int(env["SEGMENT"]), None, 0o10000)
if address == ctypes.c_void_p(-1).value:
    sys.exit("no such segment")
loot(ctypes.string_at(address, 1000))`),
    evidence: loot,
  },
  {
    id: 'kernel/shared-memory-left',
    title: 'leaves shared memory that nobody clears up',
    stoppedBy: 'IPC namespace, which ends with the command',
    program: python('print(libc.shmget(int(env["MARK"][-7:], 16), 4096, 0o1600))'),
    evidence: anywhere(({ mark }) =>
      new RegExp(`^\\s*${Number.parseInt(mark.slice(-7), 16)}\\s`, 'm').test(
        readFileSync('/proc/sysvipc/shm', 'utf8'),
      ),
    ),
  },
  {
    id: 'kernel/terminal',
    title: 'types into the terminal that the server was started from (TIOCSTI)',
    stoppedBy: 'a session and a /dev of its own; system-call filter',
    needs: ['typing'],
    program: python(`
terminal = os.open(env["TTY"], os.O_RDWR)
for character in env["MARK"]:
    fcntl.ioctl(terminal, 0x5412, character.encode())
time.sleep(0.3)`),
    evidence: anywhere(({ typed, mark }) => typed().includes(mark)),
  },
  {
    id: 'kernel/host-name',
    title: 'renames the machine',
    stoppedBy: 'host name namespace; no capabilities; system-call filter',
    needs: ['root', 'namespaces'],
    program: bash('hostname "$MARK"'),
    evidence: anywhere(({ mark }) => hostname() === mark),
  },
  {
    id: 'kernel/settings',
    title: 'changes settings of the kernel (/proc/sys)',
    stoppedBy: 'no capabilities; a network namespace of its own',
    needs: ['root', 'namespaces'],
    program: bash('echo 77 > /proc/sys/net/ipv4/ip_default_ttl'),
    evidence: anywhere(() => readFileSync('/proc/sys/net/ipv4/ip_default_ttl', 'utf8').trim() === '77'),
  },
  {
    id: 'kernel/log',
    title: 'writes lines into the log of the machine (/dev/kmsg)',
    stoppedBy: 'a /dev of its own; no capabilities',
    needs: ['root', 'kernel-log'],
    program: bash('echo "$MARK: tried out by a test" > /dev/kmsg'),
    evidence: anywhere(({ mark, kernelLog }) => kernelLog().includes(mark)),
  },
  {
    id: 'kernel/control-group',
    title: 'makes a control group for itself',
    stoppedBy: '/sys does not exist inside',
    needs: ['root', 'cgroup-v1'],
    program: bash('mkdir "/sys/fs/cgroup/pids/$MARK"'),
    evidence: exists(({ mark }) => join('/sys/fs/cgroup/pids', mark)),
  },
  {
    id: 'kernel/core-dump',
    title: 'leaves its memory, with its secrets, as a file (core dump)',
    stoppedBy: 'RLIMIT_CORE 0',
    needs: ['core-files'],
    program: bash('ulimit -c unlimited; sleep 5 & sleep 0.1; kill -SEGV $!; wait; cat core* > core-of-it'),
    evidence: anywhere(({ workspace, mark }) =>
      readFileSync(join(workspace, 'core-of-it'), 'latin1').includes(mark),
    ),
  },
];
