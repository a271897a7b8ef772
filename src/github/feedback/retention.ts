import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Transactions } from '../../tx.ts';
import type { OutboxStore } from './outbox-store.ts';

const dayMs = 24 * 60 * 60 * 1000;
const checksAtOnce = 200;
const defaultPauseMs = 50;

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
  const { outbox, transactions, days, clock, pauseMs = defaultPauseMs } = parts;
  if (days === 0) return;
  const options = { dueBeforeMs: clock.nowMs() - days * dayMs, limit: checksAtOnce };
  while (!signal.aborted) {
    const removed = await transactions.write((tx) => outbox.removeOldChecks(tx, options));
    if (removed < checksAtOnce) return;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
