import { setTimeout as delay } from 'node:timers/promises';

/**
 * An open write transaction, as the features see it: a proof that one is open, and nothing to call but
 * `afterCommit`. Storage knows what is inside.
 */
export interface Tx {
  /**
   * Runs `wake` once the transaction has committed, never when it rolled back. For hints only (waking a
   * loop): what must happen has a row, because the process may die between the commit and the call.
   */
  afterCommit(wake: () => void): void;
}

export interface Transactions {
  /**
   * Runs `work` in one write transaction. Nothing but storage calls may be awaited inside: every other
   * writer waits meanwhile. A rejection rolls everything back and is passed on.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** In the transaction that the caller has open, else in one of its own. */
export function within<T>(
  transactions: Transactions,
  tx: Tx | undefined,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return tx ? work(tx) : transactions.write(work);
}

/** Between two pieces, so that nobody who writes has to wait for long. */
const defaultPauseMs = 50;

/**
 * Clears what may be much in small transactions: `clear` takes away so many at most and says how many there were. Goes on
 * until a piece was not full; ends early, and resolves, when `signal` aborts.
 */
export async function inPieces(
  parts: { readonly transactions: Transactions; readonly atOnce: number; readonly pauseMs?: number },
  signal: AbortSignal,
  clear: (tx: Tx, atOnce: number) => Promise<number>,
): Promise<void> {
  const { transactions, atOnce, pauseMs = defaultPauseMs } = parts;
  while (!signal.aborted) {
    const cleared = await transactions.write((tx) => clear(tx, atOnce));
    if (cleared < atOnce) return;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
