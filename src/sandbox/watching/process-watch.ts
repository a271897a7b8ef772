/**
 * Looks, while a command runs, at what all of its processes hold together, which rlimits bound for each of them only. It
 * sees growth only when it looks: a command can go over a limit by as much as it takes in between. What it cannot see
 * for reasons of the server (no descriptor to spare) ends nothing, because the rlimits still hold.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Accounting } from '../accounting.ts';
import type { Limits, Usage } from '../sandbox.ts';
import type { Look } from './process-use.ts';

export interface ProcessWatch {
  readonly limits: Pick<Limits, 'memoryBytes' | 'processes' | 'temporaryEntries'>;
  readonly look: Look;
  /** At most once. Nothing is to be asked of the command: it takes memory from everybody. */
  readonly onOver: (reason: OverReason) => void;
}

export type OverReason = 'memory' | 'processes' | 'temporary';

const lookEveryMs = 250;
/** Looking costs at most a tenth of one core, until that would give a command too much time. */
const lookShare = 10;
const longestPauseMs = 2000;

/** Looks until it is disposed of. */
export function watchProcesses(watch: ProcessWatch): Accounting {
  const stop = new AbortController();
  let seen: Usage | null = null;
  let over: OverReason | null = null;

  const lookOnce = async (): Promise<void> => {
    const { limits, look } = watch;
    // Without a descriptor nothing is seen for a while, and it is looked again.
    const use = await look(limits).catch(() => null);
    // Of processes that have ended meanwhile, and of whoever has their numbers now.
    if (use === null || stop.signal.aborted || over !== null) return;
    seen = {
      peakMemoryBytes: larger(seen?.peakMemoryBytes, use.memoryBytes),
      peakProcesses: larger(seen?.peakProcesses, use.processes),
      // What ended unwaited for takes its time out of the sum.
      cpuMs: larger(seen?.cpuMs, use.cpuMs),
    };
    if (use.memoryBytes > limits.memoryBytes) over = 'memory';
    else if (use.processes > limits.processes) over = 'processes';
    else if (use.temporaryEntries > limits.temporaryEntries) over = 'temporary';
    if (over !== null) watch.onOver(over);
  };
  const keepLooking = async (): Promise<void> => {
    let pauseMs = lookEveryMs;
    while (over === null && (await pause(pauseMs, stop.signal))) {
      const startedMs = performance.now();
      await lookOnce();
      const tookMs = performance.now() - startedMs;
      pauseMs = Math.min(longestPauseMs, Math.max(lookEveryMs, lookShare * tookMs));
    }
  };
  // Whatever is wrong with the watch must not end the server, and with it every sandbox.
  void keepLooking().catch(() => undefined);

  return {
    usage: () => seen,
    wasOutOfMemory: () => over === 'memory',
    async [Symbol.asyncDispose]() {
      stop.abort();
    },
  };
}

function larger(before: number | null | undefined, now: number): number {
  return Math.max(before ?? 0, now);
}

const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
  delay(ms, true, { signal, ref: false }).catch(() => false);
