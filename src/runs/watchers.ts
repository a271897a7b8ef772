import { setTimeout as delay } from 'node:timers/promises';

/**
 * Wakes whoever waits for news of a run, such as a worker's heartbeat. Hints only, in this process only:
 * who waits looks again after a while anyway.
 */
export interface Watchers {
  ring(runId: string): void;
  /** Listens from now on: begin before the look, or a ring between the look and the wait is lost. */
  listen(runId: string): Listener;
}

export interface Listener extends Disposable {
  /** Resolves when it rang since `listen`, after `maxMs`, or when `signal` aborts. */
  rung(maxMs: number, signal: AbortSignal): Promise<void>;
}

export function createWatchers(): Watchers {
  const listeners = new Map<string, Set<AbortController>>();

  return {
    ring(runId) {
      for (const bell of listeners.get(runId) ?? []) bell.abort();
    },

    listen(runId) {
      const bell = new AbortController();
      const ofRun = listeners.get(runId) ?? new Set();
      listeners.set(runId, ofRun.add(bell));
      return {
        async rung(maxMs, signal) {
          const either = AbortSignal.any([bell.signal, signal]);
          await delay(maxMs, undefined, { signal: either }).catch(() => undefined);
        },
        [Symbol.dispose]() {
          ofRun.delete(bell);
          if (ofRun.size === 0 && listeners.get(runId) === ofRun) listeners.delete(runId);
        },
      };
    },
  };
}
