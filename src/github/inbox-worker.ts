import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { backoffMs, maxAttempts } from './backoff.ts';
import type { Delivery, DeliveryOutcome, InboxStore } from './inbox-store.ts';
import { createLoop, type Loop } from './loop.ts';

/**
 * Hands stored deliveries to their handler, one after the other, the longest due first, so that two events
 * of a repository never race. A row stays pending until its outcome is written: after a crash it is handled
 * again, and handlers must bear that.
 */
export interface InboxWorkerParts {
  readonly store: InboxStore;
  readonly transactions: Transactions;
  /** A rejection means "try again later"; everything else is said by the outcome. */
  readonly handle: (delivery: Delivery) => Promise<DeliveryOutcome>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const dayMs = 24 * 60 * 60 * 1000;
const keepBodiesMs = 7 * dayMs;
const purgeEveryMs = 60 * 60 * 1000;
/** Small, so that a purge never holds the only writer for long. */
const purgeBatch = 100;
/** A safety net for clocks that are set and for hints that are lost. */
const longestPauseMs = 30_000;
const maxNoteLength = 500;

export function createInboxWorker(parts: InboxWorkerParts): Loop {
  const { store, transactions, handle, clock, logger } = parts;
  let purgeAtMs = 0;

  async function handleNext(): Promise<boolean> {
    const delivery = await transactions.write((tx) => store.claim(tx, clock.nowMs()));
    if (!delivery) return false;
    const log = logger.child({ delivery: delivery.id, event: delivery.event });
    // Only a process that dies gets here: failed attempts below end at the limit themselves.
    if (delivery.attempt > maxAttempts) {
      const note = `the server stopped while handling it, ${maxAttempts} times`;
      await transactions.write((tx) => store.settle(tx, delivery.id, { state: 'failed', note }));
      log.error('a delivery is given up');
      return true;
    }
    try {
      const outcome = await handle(delivery);
      await settle(delivery.id, outcome);
      log.info({ state: outcome.state, note: cut(outcome.note) }, 'a delivery was handled');
    } catch (error) {
      await afterFailure(delivery, error, log);
    }
    return true;
  }

  async function settle(id: string, { state, note }: DeliveryOutcome): Promise<void> {
    await transactions.write((tx) => store.settle(tx, id, { state, note: cut(note) }));
  }

  async function afterFailure(delivery: Delivery, error: unknown, log: Logger): Promise<void> {
    const { id, attempt } = delivery;
    const note = describe(error);
    if (attempt >= maxAttempts) {
      await settle(id, { state: 'failed', note });
      log.error({ err: error, attempt }, 'a delivery is given up');
      return;
    }
    const nextAtMs = clock.nowMs() + backoffMs(attempt);
    await transactions.write((tx) => store.retryLater(tx, id, nextAtMs, cut(note)));
    log.warn({ err: error, attempt, nextAtMs }, 'handling a delivery failed, it is tried again');
  }

  /** One batch; true when there may be more to drop. */
  async function purge(nowMs: number): Promise<boolean> {
    const beforeMs = nowMs - keepBodiesMs;
    const dropped = await transactions.write((tx) => store.dropBodies(tx, beforeMs, purgeBatch));
    return dropped === purgeBatch;
  }

  return createLoop({
    async step() {
      const nowMs = clock.nowMs();
      const isPurging = nowMs >= purgeAtMs && (await purge(nowMs));
      if (!isPurging && nowMs >= purgeAtMs) purgeAtMs = nowMs + purgeEveryMs;
      const dueMs = (await store.nextDueMs()) ?? Number.POSITIVE_INFINITY;
      const hasHandled = dueMs <= nowMs && (await handleNext());
      if (isPurging || hasHandled) return 0;
      return Math.min(Math.max(dueMs - clock.nowMs(), 1), longestPauseMs);
    },
    onError: (error) => logger.error({ err: error }, 'the inbox worker failed, it goes on'),
  });
}

function describe(error: unknown): string {
  if (error instanceof UserError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : 'something that is no error was thrown';
}

const cut = (note: string): string =>
  note.length > maxNoteLength ? `${note.slice(0, maxNoteLength)}…` : note;
