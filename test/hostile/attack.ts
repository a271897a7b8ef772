/** What an attack is: a program of the repository, and where one sees from outside that it got through. Pure. */

import { refusedSyscalls } from '../../src/sandbox/launching/syscalls.ts';
import type { Limits, OpenAccess } from '../../src/sandbox/sandbox.ts';
import type { Evidence, Scene } from './scene.ts';

export interface Attack {
  /** `theme/what`, unique. */
  readonly id: string;
  /** What the repository gets when it succeeds. */
  readonly title: string;
  /** What keeps it from that. */
  readonly stoppedBy: string;
  /** What the machine has to have for it to succeed anywhere; see needs.ts. */
  readonly needs?: readonly Need[];
  /** Starts in the workspace, with the variables of `Scene.targets`. Bounded by itself: it is run without a sandbox, too. */
  readonly program: readonly [string, ...string[]];
  readonly evidence: Evidence;
  /** Where the machine has no limit that a test could reach. */
  readonly limits?: Partial<Limits>;
  readonly access?: OpenAccess;
  /** Added to what the program is given, and to what a careless server gives its own helpers. */
  readonly environment?: (scene: Scene) => Readonly<Record<string, string>>;
  /**
   * What the server does once the program has ended, or while it runs. `naive` is what most would write, `real` is a
   * function of src/. What they return is `Scene.answer`.
   */
  readonly server?: {
    readonly when: 'during' | 'after';
    readonly naive: (scene: Scene) => Promise<unknown>;
    readonly real: (scene: Scene) => Promise<unknown>;
  };
}

export type Need =
  | 'root'
  | 'no-root'
  | 'namespaces'
  | 'user-namespaces'
  | 'old-entrance'
  | 'kernel-log'
  | 'gcc'
  | 'flawed-bwrap'
  | 'ipv6'
  | 'multipath'
  | 'vsock'
  | 'io_uring'
  | 'userfaultfd'
  | 'perf'
  | 'fanotify'
  | 'disk'
  | 'cgroup-v1'
  | 'core-files'
  | 'typing'
  | 'x32';

export const bash = (text: string): Attack['program'] => ['bash', '-c', text];

/** Python with the system calls by name, as libc wraps few of those that attackers use. */
export const python = (text: string): Attack['program'] => ['python3', '-c', `${prelude}\n${text.trim()}\n`];

const numbers = Object.entries(refusedSyscalls).map(
  ([name, call]) => `    ${JSON.stringify(name)}: ${call[process.arch === 'arm64' ? 'arm64' : 'x64'] ?? -1},`,
);

const prelude = `
import ctypes, fcntl, mmap, os, re, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
env = os.environ
NUMBERS = {
${numbers.join('\n')}
    "pidfd_open": 434, "clone3": 435,
}

def call(name, *arguments):
    number = NUMBERS[name] if isinstance(name, str) else name
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
    return result

def hold():
    # Long enough to be seen from outside, which ends it.
    time.sleep(4)

def loot(data):
    with open("loot", "ab") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
`;
