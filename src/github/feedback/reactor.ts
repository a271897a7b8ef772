import type { Clock } from '../../clock.ts';
import type { Reactor } from '../../runs/run-event.ts';
import { type AggregateWish, aggregateIdOf, kindOfType } from './aggregate-check.ts';
import { checkItem, checkRunItem, checkRunOf } from './check-run.ts';
import type { OutboxStore } from './outbox-store.ts';

/**
 * Writes down what GitHub shall show of the run; the outbox sends it, when it can. A run passes half a dozen states in
 * its first second, and every request counts against GitHub's limits: what is only passed through waits until it
 * has been calm for a moment. The first state and those that somebody has to act on, or that end the run, go at once.
 */
export function createFeedbackReactor(parts: {
  store: Pick<OutboxStore, 'want' | 'touch' | 'find'>;
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
    const repositoryId = stack.repository.id;
    const isOnTheWay = desired.status !== 'completed' && run.stateVersion > 1;
    const dueMs = clock.nowMs() + (isOnTheWay ? calmMs : 0);
    const isAggregate = stack.settings.checks === 'aggregate';
    // A check that there is goes on to its end, whatever the setting is by now.
    if (!isAggregate || (await store.find(run.id, tx))) {
      await store.want(tx, checkRunItem(desired, { runId: run.id, repositoryId }), dueMs);
    }
    const id = aggregateIdOf(run, stack);
    if (!(await store.touch(tx, id, dueMs)) && isAggregate) {
      const commit = run.commit.hash;
      const kind = kindOfType(run.type);
      const wish: AggregateWish = { commit, kind, sinceMs: event.timestampMs, unaffected: {} };
      await store.want(tx, checkItem(id, wish, { repositoryId, runId: null }), dueMs);
    }
    tx.afterCommit(onWanted);
  };
}
