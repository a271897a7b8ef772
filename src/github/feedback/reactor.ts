import type { Clock } from '../../clock.ts';
import type { Reactor } from '../../runs/run-event.ts';
import { checkRunItem, checkRunOf } from './check-run.ts';
import type { OutboxStore } from './outbox-store.ts';

/**
 * Writes down what GitHub shall show of the run; the outbox sends it, when it can. A run passes half a dozen states in
 * its first second, and every request counts against GitHub's limits: what is only passed through waits until it
 * has been calm for a moment. The first state and those that somebody has to act on, or that end the run, go at once.
 */
export function createFeedbackReactor(parts: {
  store: Pick<OutboxStore, 'want'>;
  clock: Clock;
  /** Asked late: it may follow from the address that the server listens on. */
  publicUrl: () => string;
  isSandboxed: boolean;
  /** How long a state on the way has to last before it is sent. */
  calmMs: number;
  /** Called after the commit. */
  onWanted: () => void;
}): Reactor {
  const { store, clock, publicUrl, isSandboxed, calmMs, onWanted } = parts;
  return async (tx, event) => {
    const desired = checkRunOf(event, { publicUrl: publicUrl(), isSandboxed });
    const { run, stack } = event;
    const wanted = checkRunItem(desired, { runId: run.id, repositoryId: stack.repository.id });
    const isOnTheWay = desired.status !== 'completed' && run.stateVersion > 1;
    await store.want(tx, wanted, clock.nowMs() + (isOnTheWay ? calmMs : 0));
    tx.afterCommit(onWanted);
  };
}
