import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { backoffMs, maxAttempts } from './backoff.ts';
import { createClockWatch } from './clock-watch.ts';
import { createInboxPurge } from './inbox-purge.ts';
import type { Delivery, DeliveryOutcome, InboxStore } from './inbox-store.ts';
import { createLanes } from './lanes.ts';
import { createLoop, type Loop } from './loop.ts';

/**
 * Hands stored deliveries to their handler in the order of arrival: of one lane (a repository) one at a time,
 * so that its events never race, of several lanes at once, so that a request that GitHub does not answer holds
 * up one repository only. A delivery that failed waits for its next attempt and lets later ones pass, also of
 * its own lane: handlers must bear to be called out of order, and twice. A row stays pending until its outcome
 * is written: after a crash it is handled again. What the end of the server cuts off is no failure: it is given
 * back and handled at the next start.
 */
export interface InboxWorkerParts {
  readonly store: InboxStore;
  readonly transactions: Transactions;
  /** A rejection means "try again later"; everything else is said by the outcome. */
  readonly handle: (delivery: Delivery) => Promise<DeliveryOutcome>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Lanes at once. Bodies of up to 25 MiB are in memory meanwhile. */
export const maxInHand = 8;
/** A safety net for clocks that are set; and how soon a replay from another process is found. */
const longestPauseMs = 5000;
/** Of what is wrong: texts of errors may hold whole pages. */
const maxErrorLength = 500;
/** What came of a delivery is told whole, for each of a hundred stacks too. */
const maxNoteLength = 16_384;

export function createInboxWorker(parts: InboxWorkerParts): Loop {
  const { store, transactions, handle, clock, logger } = parts;
  const purge = createInboxPurge(parts);
  const untrustedFrom = createClockWatch();
  const lanes = createLanes<string>(maxInHand, () => loop.wake());
  let isStopping = false;

  async function claim(): Promise<Delivery | null> {
    return transactions.write(async (tx) => {
      const nowMs = clock.nowMs();
      const delivery = await store.claim(tx, nowMs, lanes.busy());
      if (!delivery) return null;
      // Put off before the work begins: one that kills the process must not be the first of the next again.
      const note = 'in hand; if this stays, the server stopped while handling it';
      await store.retryLater(tx, delivery.id, nowMs + backoffMs(delivery.attempt), note);
      return delivery;
    });
  }

  async function work(delivery: Delivery): Promise<void> {
    const log = logger.child({ delivery: delivery.id, event: delivery.event });
    // Only a process that dies gets here: failed attempts below end at the limit themselves.
    if (delivery.attempt > maxAttempts) {
      const note = `given up after ${maxAttempts} attempts; the server died during the last of them`;
      await settle(delivery, { state: 'failed', note }, log);
      return;
    }
    let outcome: DeliveryOutcome;
    try {
      outcome = await handle(delivery);
    } catch (error) {
      if (isStopping) await giveBack(delivery, log);
      else await afterFailure(delivery, error, log);
      return;
    }
    await settle(delivery, outcome, log);
  }

  async function settle({ id, attempt }: Delivery, outcome: DeliveryOutcome, log: Logger): Promise<void> {
    const { state } = outcome;
    const note = cut(outcome.note, state === 'failed' ? maxErrorLength : maxNoteLength);
    await transactions.write((tx) => store.settle(tx, id, { state, note }));
    const fields = { state, note: cut(note, maxErrorLength), attempt };
    if (state === 'failed') log.error(fields, 'a delivery is given up; `slipway inbox` shows and replays it');
    else log.info(fields, 'a delivery was handled');
  }

  async function giveBack({ id }: Delivery, log: Logger): Promise<void> {
    const note = 'the server was stopped while handling it; it is handled at the next start';
    await transactions.write((tx) => store.giveBack(tx, id, clock.nowMs(), note));
    log.info(note);
  }

  async function afterFailure(delivery: Delivery, error: unknown, log: Logger): Promise<void> {
    const { id, attempt } = delivery;
    const note = describe(error);
    if (attempt >= maxAttempts) {
      await settle(delivery, { state: 'failed', note }, log.child({ err: error }));
      return;
    }
    const nextAtMs = clock.nowMs() + backoffMs(attempt);
    await transactions.write((tx) => store.retryLater(tx, id, nextAtMs, cut(note, maxErrorLength)));
    log.warn({ err: error, attempt, nextAtMs }, 'handling a delivery failed, it is tried again');
  }

  function launch(delivery: Delivery): void {
    const { id, lane } = delivery;
    lanes.run(lane, () =>
      work(delivery).catch((error) => {
        // Its row is pending and put off already.
        logger.error({ err: error, delivery: id }, 'what became of a delivery could not be stored');
      }),
    );
  }

  const loop = createLoop({
    async step() {
      const nowMs = clock.nowMs();
      const laterThanMs = untrustedFrom(nowMs);
      if (laterThanMs !== null) await transactions.write((tx) => store.bringForward(tx, laterThanMs, nowMs));
      const isPurging = await purge(nowMs);
      if (lanes.isFull()) return longestPauseMs;
      const dueMs = (await store.nextDueMs(lanes.busy())) ?? Number.POSITIVE_INFINITY;
      const delivery = dueMs <= nowMs ? await claim() : null;
      if (delivery) launch(delivery);
      if (isPurging || delivery) return 0;
      return Math.min(Math.max(dueMs - clock.nowMs(), 1), longestPauseMs);
    },
    onError: (error) => logger.error({ err: error }, 'the inbox worker failed, it goes on'),
  });

  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    async [Symbol.asyncDispose]() {
      isStopping = true;
      await loop[Symbol.asyncDispose]();
      await lanes.settled();
    },
  };
}

function describe(error: unknown): string {
  if (error instanceof UserError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : 'something that is no error was thrown';
}

const cut = (note: string, length: number): string =>
  note.length > length ? `${note.slice(0, length)}…` : note;
