/**
 * A hint that there may be work. A ring while nobody waits is remembered for the next one who does:
 * otherwise a ring between "looked, found nothing" and "wait" would be lost until the time-out.
 */
export interface Doorbell {
  ring(name: string): void;
  wait(name: string, maxMs: number, signal: AbortSignal): Promise<void>;
}

export function createDoorbell(): Doorbell {
  const rung = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();

  return {
    ring(name) {
      const waiters = waiting.get(name);
      if (!waiters || waiters.size === 0) {
        rung.add(name);
        return;
      }
      for (const wakeUp of waiters) wakeUp();
    },

    wait(name, maxMs, signal) {
      if (signal.aborted || rung.delete(name)) return Promise.resolve();
      const waiters = waiting.get(name) ?? new Set();
      waiting.set(name, waiters);
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          waiters.delete(done);
          resolve();
        };
        const timer = setTimeout(done, maxMs);
        signal.addEventListener('abort', done, { once: true });
        waiters.add(done);
      });
    },
  };
}
