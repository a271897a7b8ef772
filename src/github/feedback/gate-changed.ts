import type { Clock } from '../../clock.ts';
import type { Run } from '../../runs/run.ts';
import type { Tx } from '../../tx.ts';
import type { OutboxStore } from './outbox-store.ts';

/**
 * What approval policies say of a run has changed, and with it the buttons of its check and what stands there. Only
 * writes rows; nothing happens for a run without a check of its own.
 */
export function createOnGateChanged(parts: {
  readonly store: Pick<OutboxStore, 'touch'>;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): (tx: Tx, run: Pick<Run, 'id'>) => Promise<void> {
  return async (tx, { id }) => {
    if (await parts.store.touch(tx, id, parts.clock.nowMs())) tx.afterCommit(parts.onWanted);
  };
}
