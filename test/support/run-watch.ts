import type { LogStore } from '../../src/runs/log-store.ts';
import type { RunState } from '../../src/runs/run.ts';
import type { Reactor } from '../../src/runs/run-event.ts';
import { phases, type RunStore } from '../../src/runs/run-store.ts';

/** Waits for states of runs without asking again and again: `reactor` belongs to the world whose runs are watched. */
export function createRunWatch() {
  const waiting = new Set<() => void>();
  const reactor: Reactor = (tx) => {
    tx.afterCommit(() => {
      for (const look of waiting) look();
    });
    return Promise.resolve();
  };

  /** Resolves with the first of the states that the run has entered. */
  async function until(runs: RunStore, id: string, ...states: readonly RunState[]): Promise<RunState> {
    for (;;) {
      let look = () => {};
      const changed = new Promise<void>((resolve) => {
        look = resolve;
      });
      waiting.add(look);
      const entered = (await runs.events(id)).find(({ state }) => states.includes(state));
      if (entered) {
        waiting.delete(look);
        return entered.state;
      }
      await changed;
      waiting.delete(look);
    }
  }

  return { reactor, until };
}

/** The log of all phases of a run, in their order. */
export async function wholeLog(logs: LogStore, id: string): Promise<string> {
  const texts = [];
  for (const phase of phases) {
    texts.push(Buffer.from((await logs.read(id, phase, 0, 64 * 1024 * 1024)).bytes).toString());
  }
  return texts.join('');
}
