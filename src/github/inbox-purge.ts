import type { Transactions } from '../tx.ts';
import type { InboxStore } from './inbox-store.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** So long a delivery can be replayed. */
const keepBodiesMs = 7 * dayMs;
/** Longer than GitHub offers to deliver something again: until then its id says that it was here. */
const keepIdsMs = 90 * dayMs;
const purgeEveryMs = 60 * 60 * 1000;
/** Small, so that a purge never holds the only writer for long. */
const purgeBatch = 100;

/** Keeps the inbox bounded, bit by bit. Each call does one batch when it is time; true when there may be more. */
export function createInboxPurge(parts: {
  store: Pick<InboxStore, 'dropBodies' | 'forget'>;
  transactions: Transactions;
}): (nowMs: number) => Promise<boolean> {
  const { store, transactions } = parts;
  let lastMs = Number.NEGATIVE_INFINITY;

  return async (nowMs) => {
    // Either way: a clock that was set back must not put the next purge off.
    if (Math.abs(nowMs - lastMs) < purgeEveryMs) return false;
    const counts = await transactions.write(async (tx) => [
      await store.dropBodies(tx, nowMs - keepBodiesMs, purgeBatch),
      await store.forget(tx, nowMs - keepIdsMs, purgeBatch),
    ]);
    const hasMore = counts.includes(purgeBatch);
    if (!hasMore) lastMs = nowMs;
    return hasMore;
  };
}
