import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { inPieces, type Transactions } from '../tx.ts';
import type { DeliveryStore, DroppedAttempts } from './delivery-store.ts';
import type { ReplayStore } from './replay-store.ts';

/**
 * Lets go of the attempts of old deliveries, and of replays that ended long ago; what became of the delivery stays as long as its run. In small
 * transactions with pauses between them, so that nobody who writes has to wait.
 */
const dayMs = 24 * 60 * 60 * 1000;
/** Deliveries in one transaction; the longest schedule has 13 attempts. */
const deliveriesAtOnce = 70;
const replaysAtOnce = 200;
const defaultPauseMs = 50;

/** Once over all there is; `days` 0: nothing. Ends early, and resolves, when `signal` aborts. */
export async function sweepAttempts(
  parts: {
    readonly deliveries: Pick<DeliveryStore, 'dropAttempts'>;
    readonly transactions: Transactions;
    readonly days: number;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly pauseMs?: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { deliveries, transactions, days, clock, logger, pauseMs = defaultPauseMs } = parts;
  if (days === 0) return;
  const createdBeforeMs = clock.nowMs() - days * dayMs;
  let dropped = 0;
  let after: string | null = null;
  do {
    const options = { createdBeforeMs, after, limit: deliveriesAtOnce };
    const batch: DroppedAttempts = await transactions.write((tx) => deliveries.dropAttempts(tx, options));
    dropped += batch.dropped;
    after = batch.next;
    if (after !== null) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  } while (after !== null && !signal.aborted);
  if (dropped > 0) logger.info({ dropped }, 'attempts of old deliveries are removed');
}

/** The same for replays. */
export async function sweepReplays(
  parts: {
    readonly replays: Pick<ReplayStore, 'removeEnded'>;
    readonly transactions: Transactions;
    readonly days: number;
    readonly clock: Clock;
    readonly pauseMs?: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { replays, days, clock } = parts;
  if (days === 0) return;
  const endedBeforeMs = clock.nowMs() - days * dayMs;
  await inPieces({ ...parts, atOnce: replaysAtOnce }, signal, (tx, limit) =>
    replays.removeEnded(tx, { endedBeforeMs, limit }),
  );
}
