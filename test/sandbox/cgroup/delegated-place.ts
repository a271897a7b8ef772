/** Where tests can have a server with a cgroup v2 of its own, if this machine lets them. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cgroupMounts, directoryOf, ownCgroup, words } from '../../../src/sandbox/cgroup/tree.ts';
import { until } from '../harness.ts';

const program = fileURLToPath(import.meta.resolve('../server-process.ts'));
let made = 0;

/** Beside our own cgroup: its parent must be ours to write, and hand on the controllers. */
export function findPlace(): { readonly directory: string } | { readonly reason: string } {
  const path = ownCgroup(readFileSync('/proc/self/cgroup', 'utf8'));
  if (path === null) return { reason: 'no cgroup v2' };
  const mounts = cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  const own = mounts.map((mount) => directoryOf(path, mount)).find((directory) => directory !== null);
  if (own === undefined) return { reason: 'no cgroup v2 is mounted' };
  const directory = dirname(own);
  if (path === '/') return { reason: 'the tests are in the cgroup of the whole machine' };
  const handedOn = words(readFileSync(join(directory, 'cgroup.subtree_control'), 'utf8'));
  const missing = ['memory', 'pids', 'cpu'].filter((name) => !handedOn.includes(name));
  if (missing.length > 0) return { reason: `${directory} does not hand on ${missing.join(', ')}` };
  try {
    accessSync(directory, constants.W_OK);
    accessSync(join(directory, 'cgroup.procs'), constants.W_OK);
  } catch {
    return { reason: `${directory} may not be written` };
  }
  return { directory };
}

/** As `Delegate=yes` makes it. Disposed of, it and what is left in it are gone. */
export function makeCgroup(place: string): AsyncDisposable & { readonly directory: string } {
  made += 1;
  const directory = join(place, `slipway-test-${process.pid}-${made}`);
  mkdirSync(directory);
  return {
    directory,
    async [Symbol.asyncDispose]() {
      writeFileSync(join(directory, 'cgroup.kill'), '1');
      await until('the end of the cgroup', () => removeTree(directory));
    },
  };
}

/** server-process.ts, from its first instruction on in that cgroup. */
export function startIn(cgroup: string, ...task: readonly string[]): ChildProcess {
  const enter = ['-c', 'echo 0 > "$0/cgroup.procs" && exec "$@"', cgroup];
  return spawn('sh', [...enter, process.execPath, program, ...task], { cwd: '/' });
}

/** False while a process of it has not ended. */
function removeTree(directory: string): boolean {
  const children = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  if (!children.every(({ name }) => removeTree(join(directory, name)))) return false;
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}
