import type { Clock } from '../../clock.ts';
import { inPieces, type Transactions } from '../../tx.ts';
import type { OutboxStore } from './outbox-store.ts';

const dayMs = 24 * 60 * 60 * 1000;
const checksAtOnce = 200;

/**
 * Lets go of old checks that are of no run; those of runs go with their runs. GitHub still shows them. `days` 0:
 * nothing. Ends early, and resolves, when `signal` aborts.
 */
export async function sweepChecks(
  parts: {
    readonly outbox: Pick<OutboxStore, 'removeOldChecks'>;
    readonly transactions: Transactions;
    readonly days: number;
    readonly clock: Clock;
    readonly pauseMs?: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { outbox, days, clock } = parts;
  if (days === 0) return;
  const dueBeforeMs = clock.nowMs() - days * dayMs;
  await inPieces({ ...parts, atOnce: checksAtOnce }, signal, (tx, limit) =>
    outbox.removeOldChecks(tx, { dueBeforeMs, limit }),
  );
}
