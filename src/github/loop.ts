import { setImmediate } from 'node:timers/promises';

/**
 * Work that is done bit by bit by one loop: it sleeps until there is something to do, is woken early, and
 * stops after the bit in hand. A wake that comes while it works is not lost.
 */
export interface Loop extends AsyncDisposable {
  start(): void;
  /** There may be work. Harmless before `start` and after the end. */
  wake(): void;
}

/** So long after a step that threw; `wake` does not shorten it, or a broken step would spin. */
const afterErrorMs = 1000;

/** `step` resolves to the milliseconds until it wants to be called again; 0 = at once. */
export function createLoop(parts: {
  step: (stopping: AbortSignal) => Promise<number>;
  onError: (error: unknown) => void;
}): Loop {
  const stopping = new AbortController();
  let isWoken = false;
  let endPause: () => void = () => undefined;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      isWoken = false;
      try {
        const waitMs = await parts.step(stopping.signal);
        if (waitMs > 0) await pause(waitMs, () => isWoken);
        // Storage answers in microtasks: without this a backlog would keep sockets and timers waiting.
        else await setImmediate();
      } catch (error) {
        if (stopping.signal.aborted) return;
        parts.onError(error);
        await pause(afterErrorMs, () => false);
      }
    }
  }

  async function pause(ms: number, isOver: () => boolean): Promise<void> {
    const untilMs = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = untilMs - performance.now()) {
      if (isOver() || stopping.signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  return {
    start() {
      running ??= run();
    },
    wake() {
      isWoken = true;
      endPause();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      endPause();
      await running;
    },
  };
}
