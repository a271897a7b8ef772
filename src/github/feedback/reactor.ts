import type { Clock } from '../../clock.ts';
import type { Reactor } from '../../runs/run-event.ts';
import { checkRunOf } from './check-run.ts';
import type { CheckRunStore } from './check-run-store.ts';

/** Writes down what GitHub shall show of the run; the outbox sends it, when it can. */
export function createFeedbackReactor(parts: {
  store: CheckRunStore;
  clock: Clock;
  /** Asked late: it may follow from the address that the server listens on. */
  publicUrl: () => string;
  isSandboxed: boolean;
  /** Called after the commit. */
  onWanted: () => void;
}): Reactor {
  const { store, clock, publicUrl, isSandboxed, onWanted } = parts;
  return async (tx, event) => {
    const desired = checkRunOf(event, { publicUrl: publicUrl(), isSandboxed });
    const { run, stack } = event;
    const wanted = { id: run.id, runId: run.id, repositoryId: stack.repository.id, desired };
    await store.want(tx, wanted, clock.nowMs());
    tx.afterCommit(onWanted);
  };
}
