import { longestBackoffMs } from './backoff.ts';

/**
 * Stored times of retries mean nothing after the clock was set back: work would wait for as long as that was.
 * Called with every look at the clock; tells from which time on what is stored cannot be meant, null when all
 * is well. At the first call nobody knows what happened before, but nothing waits longer than the longest
 * delay.
 */
export function createClockWatch(): (nowMs: number) => number | null {
  let lastMs: number | null = null;
  return (nowMs) => {
    const before = lastMs;
    lastMs = nowMs;
    if (before === null) return nowMs + longestBackoffMs;
    return nowMs < before ? nowMs : null;
  };
}
