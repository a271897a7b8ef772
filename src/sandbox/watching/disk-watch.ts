/**
 * Looks, while a command runs, at what it leaves on the disk. It sees growth only when it looks, so a command can go
 * over a limit by as much as it writes in between: a watch, not a quota. What a command does not let it see
 * counts as too much; what it cannot see for reasons of the server does so after a while, where the limits say so.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { DiskReason, Limits } from '../sandbox.ts';
import { freeSpace, measure } from './disk-use.ts';

export interface DiskWatch {
  readonly directories: readonly string[];
  readonly limits: Pick<Limits, 'diskBytes' | 'diskEntries' | 'freeBytes' | 'failedLooks'>;
  readonly environment: NodeJS.ProcessEnv;
  /** Again at each look. `isUrgent`: no time may be lost with asking. */
  readonly onOver: (reason: DiskReason, isUrgent: boolean) => void;
}

const lookEveryMs = 1000;
/** A walk costs at most a tenth of one core, until it is so slow that it is a reason by itself. */
const walkShare = 10;
const longestPauseMs = 10_000;
/** What was open a moment ago may be on its way to be closed, moved or removed. */
const looksBeforeClosed = 2;

/** Disposed of, it looks no more. */
export function watchDisk(watch: DiskWatch): Disposable {
  const stop = new AbortController();
  if (watch.directories.length > 0) {
    // Whatever is wrong with the watch must not end the server, and with it every sandbox.
    void look(watch, stop.signal).catch(() => undefined);
  }
  return { [Symbol.dispose]: () => stop.abort() };
}

async function look(watch: DiskWatch, signal: AbortSignal): Promise<void> {
  const [first = '/'] = watch.directories;
  const { diskBytes, diskEntries, freeBytes, failedLooks } = watch.limits;
  const limits = { bytes: 2 * diskBytes, entries: 2 * diskEntries };
  let closed = 0;
  let failed = 0;
  let walkAtMs = 0;
  while (await pause(signal)) {
    if (freeBytes !== null && (await roomIn(first)) < freeBytes) watch.onOver('free_space', true);
    const startedMs = performance.now();
    if (startedMs < walkAtMs) continue;
    const use = await measure(watch.directories, limits, watch.environment, signal);
    if (signal.aborted) return;
    const nowMs = performance.now();
    walkAtMs = nowMs + Math.min(longestPauseMs, walkShare * (nowMs - startedMs));
    failed = use.kind === 'failed' ? failed + 1 : 0;
    if (failedLooks !== null && failed >= failedLooks) watch.onOver('unwatched', false);
    if (use.kind === 'failed') continue;
    closed = use.kind === 'closed' ? closed + 1 : 0;
    if (closed >= looksBeforeClosed) watch.onOver('unreadable', false);
    if (use.kind === 'closed') continue;
    // Asked to stop it may go on writing for as long as its grace lasts: up to twice the limit.
    if (use.bytes > diskBytes) watch.onOver('bytes', use.bytes > limits.bytes);
    else if (use.entries > diskEntries) watch.onOver('entries', use.entries > limits.entries);
  }
}

const pause = (signal: AbortSignal): Promise<boolean> =>
  delay(lookEveryMs, true, { signal, ref: false }).catch(() => false);

/** A file system that does not answer has no room. */
const roomIn = (directory: string): Promise<number> => freeSpace(directory).catch(() => 0);
