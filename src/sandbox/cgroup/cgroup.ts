/**
 * The cgroup v2 of one command: the kernel holds all of its processes together to one limit of memory, of processes and
 * of processor time, counts what they use, and kills them as one.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Accounting } from '../accounting.ts';
import { niceness } from '../launching/priority.ts';
import { removalTimeoutMs } from '../limits.ts';
import type { Limits, Usage } from '../sandbox.ts';
import { commandCgroup, type Delegated, leftoverCgroups } from './delegation.ts';
import { numberIn, valueIn } from './tree.ts';

/** Disposed of, everything in it is killed and gone; what the kernel cannot end (a disk that hangs) waits for the next start. */
export interface Cgroup extends Accounting {
  /** A process that writes 0 into its `cgroup.procs` enters. */
  readonly directory: string;
  usage(): Usage;
}

export interface CgroupLimits extends Pick<Limits, 'memoryBytes' | 'processes'> {
  /** Processors that may be kept busy, e.g. 1.5; null = all there are. */
  readonly cpus: number | null;
}

/** Of cpu.max, in microseconds. */
const period = 100_000;
let created = 0;

/** Throws what the kernel says: then the limits would not hold. */
export function createCgroup({ directory, hasCpu }: Delegated, limits: CgroupLimits): Cgroup {
  created += 1;
  const path = commandCgroup(directory, created);
  mkdirSync(path);
  try {
    const set = (file: string, value: string | number) => writeFileSync(join(path, file), String(value));
    set('memory.max', limits.memoryBytes);
    // There is none where the kernel knows no swap.
    tryTo(() => set('memory.swap.max', 0));
    // Without it a part of the command dies, and the rest may pretend that all is well.
    set('memory.oom.group', 1);
    set('pids.max', limits.processes);
    // Between cgroups it is this that counts, not the niceness of a process.
    if (hasCpu) set('cpu.weight.nice', niceness);
    if (hasCpu && limits.cpus !== null) set('cpu.max', `${Math.round(limits.cpus * period)} ${period}`);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    directory: path,
    usage: () => usageOf(path, limits),
    wasOutOfMemory: () => wasOutOfMemory(path),
    [Symbol.asyncDispose]: () => removeCgroup(path),
  };
}

/** Of a server that was killed. Call once at its start, before the first command. Returns how many there were. */
export async function removeLeftoverCgroups({ directory }: Delegated): Promise<number> {
  const leftovers = leftoverCgroups(directory);
  await Promise.all(leftovers.map(removeCgroup));
  return leftovers.length;
}

function usageOf(path: string, { processes }: CgroupLimits): Usage {
  const cpuUs = valueIn(textOf(path, 'cpu.stat'), 'usage_usec');
  const wasRefused = (valueIn(textOf(path, 'pids.events'), 'max') ?? 0) > 0;
  return {
    // The kernel's figure has the cached pages of files in it, which it would have given up for anything else: whoever
    // wants to know how much a command needs is not helped by it. At the limit there are none left.
    peakMemoryBytes: wasOutOfMemory(path) ? numberIn(textOf(path, 'memory.peak')) : null,
    peakProcesses: wasRefused ? processes : numberIn(textOf(path, 'pids.peak')),
    cpuMs: cpuUs === null ? null : Math.round(cpuUs / 1000),
  };
}

/** Of its own limit: `oom` does not count what the kernel kills because the service or the machine is short of memory. */
function wasOutOfMemory(path: string): boolean {
  const events = textOf(path, 'memory.events');
  return (valueIn(events, 'oom') ?? 0) > 0 && (valueIn(events, 'oom_kill') ?? 0) > 0;
}

async function removeCgroup(path: string): Promise<void> {
  const deadline = performance.now() + removalTimeoutMs;
  tryTo(() => writeFileSync(join(path, 'cgroup.kill'), '1'));
  do {
    try {
      return await rmdir(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    }
    await sleep(1);
  } while (performance.now() < deadline);
}

function tryTo(step: () => void): void {
  try {
    step();
  } catch {
    // This kernel has no such file.
  }
}

/** Empty: this kernel has no such file. */
function textOf(path: string, file: string): string {
  try {
    return readFileSync(join(path, file), 'utf8');
  } catch {
    return '';
  }
}
