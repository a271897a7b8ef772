import type { Clock } from '../../src/clock.ts';

/** A clock that moves only when a test moves it, in either direction. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(startMs = 1_795_000_000_000): ManualClock {
  let now = startMs;
  return {
    nowMs: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
