import { setImmediate as turn } from 'node:timers/promises';

/** Longer than that nobody else shall wait. */
const sliceMs = 10;

/** For work on large plans: to be awaited between its pieces, so that all else goes on meanwhile. */
export function takeTurns(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < sliceMs) return;
    await turn();
    sinceMs = performance.now();
  };
}
