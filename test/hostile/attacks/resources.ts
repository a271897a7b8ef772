/** What a machine has only so much of. Each program takes little enough to be harmless, and the sandbox less still. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, bash, python } from '../attack.ts';
import { temporaryBytes } from '../drivers.ts';
import { anywhere, largerThan, lootOf, moreProcessesThan, outcomeIs, processShows } from '../evidence.ts';

const mebibyte = 1024 * 1024;

/** 128 MiB, held for a moment. Without a sandbox there is no such home. */
const fill = (directory: string) =>
  python(`
directory = "${directory}" if os.path.isdir("${directory}") else "/tmp"
with open(os.path.join(directory, env["MARK"]), "wb", 0) as file:
    try:
        for _ in range(128):
            file.write(bytes(1 << 20))
    except OSError:
        pass
    time.sleep(0.3)`);

/** It kept what it took for seconds, and nobody ended it: looks from outside take turns, and a busy machine is slow. */
const undisturbed = lootOf(({ mark }) => mark);

export const resourceAttacks: readonly Attack[] = [
  {
    id: 'resources/forks',
    title: 'starts 300 processes',
    stoppedBy: 'RLIMIT_NPROC, counted for each run',
    limits: { processes: 60 },
    program: python(`
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(1.5)
            os._exit(0)
    except OSError:
        break
time.sleep(1)`),
    evidence: moreProcessesThan(150),
  },
  {
    id: 'resources/threads',
    title: 'starts 300 threads',
    stoppedBy: 'RLIMIT_NPROC, counted for each run',
    limits: { processes: 60 },
    program: python(`
import threading
threading.stack_size(65536)
for _ in range(300):
    try:
        threading.Thread(target=time.sleep, args=[1.5], daemon=True).start()
    except RuntimeError:
        break
time.sleep(1)`),
    evidence: processShows('status', (text) => Number(/^Threads:\s+(\d+)/m.exec(text)?.[1]) > 150),
  },
  {
    id: 'resources/memory-of-one',
    title: 'takes 192 MiB of memory in one process',
    stoppedBy: 'RLIMIT_DATA',
    limits: { dataBytes: 96 * mebibyte },
    program: python('taken = b"x" * (192 << 20)\ntime.sleep(1)'),
    evidence: processShows('status', (text) => Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1]) > 160 * 1024),
  },
  {
    id: 'resources/memory-of-all',
    title: 'takes 256 MiB of memory in eight processes',
    stoppedBy: 'watch over the memory of all processes of a run; memory.max with a delegated cgroup',
    limits: { memoryBytes: 64 * mebibyte },
    program: python(`
for _ in range(8):
    if os.fork() == 0:
        taken = b"x" * (32 << 20)
        time.sleep(6)
        os._exit(0)
time.sleep(4)
loot(env["MARK"])`),
    evidence: undisturbed,
  },
  {
    id: 'resources/temporary-names',
    title: 'makes 8,000 empty files in /tmp, whose names are memory of the kernel',
    stoppedBy: 'watch over the names in private directories; memory.max with a delegated cgroup',
    limits: { temporaryEntries: 1000 },
    program: python(`
place = os.path.join("/tmp", env["MARK"])
os.mkdir(place)
for number in range(8000):
    open(os.path.join(place, str(number)), "w").close()
    if number % 200 == 0:
        time.sleep(0.04)
time.sleep(3)
loot(env["MARK"])`),
    evidence: undisturbed,
  },
  {
    id: 'resources/one-file',
    title: 'writes one file of 64 MiB',
    stoppedBy: 'RLIMIT_FSIZE',
    limits: { fileBytes: 8 * mebibyte },
    program: bash('head -c 67108864 /dev/zero > large'),
    evidence: anywhere(({ workspace }) => sizeOf(workspace) > 32 * mebibyte),
  },
  {
    id: 'resources/many-files',
    title: 'fills the disk with files, deaf to signals',
    stoppedBy: 'watch over what a run holds: SIGINT at the limit, SIGKILL at twice as much',
    limits: { diskBytes: 8 * mebibyte },
    program: bash(
      'trap "" INT TERM; for i in $(seq 64); do head -c 1048576 /dev/zero > "$i"; sleep 0.05; done',
    ),
    evidence: anywhere(({ workspace }) => sizeOf(workspace) > 60 * mebibyte),
  },
  {
    id: 'resources/many-names',
    title: 'fills the disk with names, deaf to signals',
    stoppedBy: 'watch over what a run holds: SIGINT at the limit, SIGKILL at twice as much',
    limits: { diskEntries: 400 },
    program: python(`
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
for number in range(4000):
    open(str(number), "w").close()
    if number % 40 == 0:
        time.sleep(0.025)`),
    evidence: anywhere(({ workspace }) => readdirSync(workspace).length >= 4000),
  },
  ...['/tmp', '/dev/shm', '/home/runner'].map(
    (directory): Attack => ({
      id: `resources/fill${directory.replaceAll('/', '-')}`,
      title: `fills ${directory}, which is memory in a sandbox`,
      stoppedBy: 'tmpfs directories with a size',
      program: fill(directory),
      evidence: largerThan(temporaryBytes * 3, ({ mark, driver }) =>
        join(directory === '/home/runner' && driver.kind === 'plain' ? '/tmp' : directory, mark),
      ),
    }),
  ),
  {
    id: 'resources/output',
    title: 'writes 64 MiB of output',
    stoppedBy: 'cap of the output, then SIGKILL',
    limits: { outputBytes: mebibyte },
    program: bash('trap "" INT TERM; yes "all work and no play" | head -c 67108864'),
    evidence: outcomeIs(({ receivedBytes }) => receivedBytes > 32 * mebibyte),
  },
  {
    id: 'resources/endless-line',
    title: 'writes one line of 64 MiB',
    stoppedBy: 'cap of the output, counted in bytes; nobody waits for the end of a line',
    limits: { outputBytes: mebibyte },
    program: bash('trap "" INT TERM; head -c 67108864 /dev/zero | tr "\\0" x'),
    evidence: outcomeIs(({ receivedBytes }) => receivedBytes > 32 * mebibyte),
  },
  {
    id: 'resources/after-the-signal',
    title: 'goes on writing once it was asked to stop',
    stoppedBy: 'cap of the output, then SIGKILL, whatever ended it',
    limits: { outputBytes: mebibyte, silenceMs: 200, graceMs: 5000 },
    program: bash('trap "head -c 67108864 /dev/zero; exit" INT; sleep 1; head -c 67108864 /dev/zero'),
    evidence: outcomeIs(({ receivedBytes }) => receivedBytes > 32 * mebibyte),
  },
];

function sizeOf(directory: string): number {
  return readdirSync(directory)
    .map((name) => statSync(join(directory, name)).size)
    .reduce((sum, size) => sum + size, 0);
}
