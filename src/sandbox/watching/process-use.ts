/**
 * One look at what the processes of a command hold, all in one. Read from the /proc of the sandbox itself, which lists its
 * processes and no others, wherever in their tree they hide. In short turns of synchronous reads: these files are answered at
 * once (unlike those that wait for a process's memory map), and the asynchronous way costs twenty times as much.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '../sandbox.ts';
import { exactMemory, type Held, roughMemory } from './exact-memory.ts';

export interface ProcessUse {
  readonly memoryBytes: number;
  /** Threads count. */
  readonly processes: number;
  /** Of all that live, and of all that they have waited for. */
  readonly cpuMs: number;
  /** Files and directories in the tmpfs of the sandbox. */
  readonly temporaryEntries: number;
}

/** Null: there is nothing to be seen (yet, or any more). */
export type Look = (limits: Pick<Limits, 'memoryBytes' | 'processes'>) => Promise<ProcessUse | null>;

export interface Place {
  /** A proc file system: the machine's, or that of a sandbox. */
  readonly directory: string;
  /** Only the processes of this session; null: all that are listed. */
  readonly session: number | null;
  /** The tmpfs that belong to the command alone. */
  readonly temporaries: readonly string[];
}

/** The server does nothing else for so long. */
const turnMs = 2;
/** USER_HZ, the same on every Linux that Node runs on. */
const msPerTick = 10;
const kibibyte = 1024;

/**
 * Whether what a process of a sandbox finds at its /proc is the sandbox's own. While bwrap starts, which a busy machine draws
 * out, its root is the machine's still: all that the machine executes would be held against the command. Throws when the process is gone.
 */
export function isOfSandbox(directory: string): boolean {
  return statSync(directory).dev !== statSync('/proc').dev;
}

export async function lookAt(
  place: Place,
  limits: Pick<Limits, 'memoryBytes' | 'processes'>,
): Promise<ProcessUse | null> {
  try {
    const [seen, temporary] = await Promise.all([
      readAll(place, limits.processes),
      sizeOf(place.temporaries),
    ]);
    const rough = roughMemory(seen.held) + temporary.bytes;
    // What processes share counts for each of them in the rough sum, so it may be too much, and never too little.
    const memoryBytes = rough > limits.memoryBytes ? (await exactMemory(seen.held)) + temporary.bytes : rough;
    return {
      memoryBytes,
      processes: seen.processes,
      cpuMs: seen.cpuMs,
      temporaryEntries: temporary.entries,
    };
  } catch {
    // The command has ended, or there is no descriptor for it.
    return null;
  }
}

/** Ends early once there are more processes than there may be: the work is bounded by that. */
async function readAll({ directory, session }: Place, limit: number) {
  const held: Held[] = [];
  let processes = 0;
  let cpuMs = 0;
  let turnEndsMs = performance.now() + turnMs;
  for (const name of readdirSync(directory)) {
    if (!/^\d+$/.test(name)) continue;
    if (performance.now() > turnEndsMs) {
      await nextTurn();
      turnEndsMs = performance.now() + turnMs;
    }
    const path = `${directory}/${name}`;
    const stat = readStat(path);
    if (stat === null || (session !== null && stat.session !== session)) continue;
    processes += stat.threads;
    cpuMs += stat.cpuMs;
    if (processes > limit) break;
    held.push(readHeld(path));
  }
  return { held, processes, cpuMs };
}

/** See proc(5); null: it has ended. */
function readStat(path: string): { session: number; threads: number; cpuMs: number } | null {
  const text = read(`${path}/stat`);
  if (text === null) return null;
  // The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { session: Number(fields[3]), threads: Math.max(1, Number(fields[17])), cpuMs: ticks * msPerTick };
}

/** What the machine gets back when it ends: no pages of files, which the kernel drops when it needs room. */
function readHeld(path: string): Held {
  const held = { path, pageBytes: 0, tableBytes: 0 };
  for (const [, name, amount] of (read(`${path}/status`) ?? '').matchAll(figures)) {
    held[name === 'VmPTE' ? 'tableBytes' : 'pageBytes'] += Number(amount) * kibibyte;
  }
  return held;
}

const figures = /^(RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+) kB$/gm;

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

async function sizeOf(temporaries: readonly string[]): Promise<{ bytes: number; entries: number }> {
  let bytes = 0;
  let entries = 0;
  for (const path of temporaries) {
    const { blocks, bfree, bsize, files, ffree } = await statfs(path);
    bytes += (blocks - bfree) * bsize;
    entries += files - ffree;
  }
  return { bytes, entries };
}
