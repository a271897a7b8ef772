import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Transactions } from '../../tx.ts';
import { createClockWatch } from '../clock-watch.ts';
import { failureOf } from '../failure.ts';
import type { GithubApp } from '../github-app.ts';
import { createLoop, type Loop } from '../loop.ts';
import { readDeliveryPage } from './delivery-list.ts';
import type { LostDelivery, LostDeliveryStore, WaitingDelivery } from './lost-delivery-store.ts';
import { againMs, everyMs, jittered } from './pace.ts';
import type { ReconcileObserver } from './reconcile-observer.ts';

/**
 * Finds what GitHub delivered, or tried to, while nobody listened, and asks for it again: by itself GitHub never sends
 * twice. Its list is compared with the inbox, whatever it says was answered: after a return to a backup the inbox lacks
 * what was acknowledged. What comes again has the same guid, so the inbox takes each once; what failed there is its
 * own business.
 */
export interface LostDeliveries extends Loop {
  /** One page of the list, or one request for a delivery; resolves to the milliseconds until the next. */
  step(stopping: AbortSignal): Promise<number>;
}

export interface LostDeliveriesParts {
  readonly app: Pick<GithubApp, 'asApp'>;
  readonly store: LostDeliveryStore;
  /** What the inbox would only put aside need not come again. */
  readonly isHandled: (event: string) => boolean;
  readonly transactions: Transactions;
  readonly observer: ReconcileObserver;
  readonly clock: Clock;
  /** 0 up to 1. */
  readonly random: () => number;
  readonly logger: Logger;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** So long GitHub delivers again. */
const oldestMs = 3 * dayMs;
/** Longer: what is forgotten must not be found again. */
const keepMs = oldestMs + dayMs;
/** An attempt may enter the list late, below newer ones. */
const overlapMs = 15 * minuteMs;
/** How long one may take to arrive after it was asked for, by how often it was; after the last it is given up. */
export const pausesMs = [2 * minuteMs, 10 * minuteMs, 30 * minuteMs] as const;
/** 30 a minute: after an outage they are many, and each of them makes work. */
export const gapMs = 2000;
/** The door opens a moment after this begins: what came before that would be lost again. */
const firstWalkMs = 2000;
/** A safety net for clocks that are set. */
const longestPauseMs = minuteMs;

/** A walk through the list that is under way. In memory: a restart begins it again. */
interface Walk {
  readonly cursor: string | null;
  /** What is older was read before, or is not delivered again. */
  readonly untilMs: number;
  /** Of the newest that was listed. */
  readonly newestMs: number | null;
}

export function createLostDeliveries(parts: LostDeliveriesParts): LostDeliveries {
  const { app, store, transactions, observer, clock, logger } = parts;
  const untrustedFrom = createClockWatch();
  let walk: Walk | null = null;
  let nextWalkMs: number | null = null;
  let pausedUntilMs = 0;

  async function begin(nowMs: number): Promise<Walk> {
    const readMs = (await store.readUntilMs()) ?? 0;
    return { cursor: null, untilMs: Math.max(readMs - overlapMs, nowMs - oldestMs), newestMs: null };
  }

  async function readPage(current: Walk, nowMs: number, stopping: AbortSignal): Promise<Walk | null> {
    const page = await readDeliveryPage(app, current.cursor, stopping);
    if (page.unreadable > 0) logger.warn({ count: page.unreadable }, 'listed deliveries are not understood');
    const fresh = page.listed.filter(({ deliveredAtMs }) => deliveredAtMs >= current.untilMs);
    await note(fresh, nowMs);
    const newestMs = current.newestMs ?? page.listed[0]?.deliveredAtMs ?? null;
    const isAllFresh = fresh.length === page.listed.length;
    if (page.next !== null && isAllFresh) return { ...current, cursor: page.next, newestMs };
    await transactions.write(async (tx) => {
      if (newestMs !== null) await store.setReadUntil(tx, newestMs);
      await store.forget(tx, nowMs - keepMs);
    });
    return null;
  }

  async function note(listed: readonly LostDelivery[], nowMs: number): Promise<void> {
    const handled = new Map(
      listed.filter(({ event }) => parts.isHandled(event)).map((each) => [each.guid, each]),
    );
    if (handled.size === 0) return;
    for (const guid of await store.missingInInbox([...handled.keys()])) {
      const lost = handled.get(guid);
      if (!lost || !(await transactions.write((tx) => store.add(tx, lost, nowMs)))) continue;
      observer.delivery('lost');
      const { event, repositoryId } = lost;
      logger.warn({ delivery: guid, event, repositoryId }, 'a delivery of GitHub never arrived');
    }
  }

  /** What came of the one that is due. Resolves to the milliseconds until the next may be asked for. */
  async function settle(waiting: WaitingDelivery, stopping: AbortSignal): Promise<number> {
    const { guid, event, asks } = waiting;
    const log = logger.child({ delivery: guid, event, asks });
    const pauseMs = pausesMs[asks];
    if ((await store.missingInInbox([guid])).length === 0) {
      await transactions.write((tx) => store.remove(tx, guid));
      observer.delivery('arrived');
      log.info('a lost delivery has arrived');
      return 0;
    }
    if (pauseMs === undefined) {
      await giveUp(waiting, 'it did not arrive');
      return 0;
    }
    // Counted before: a restart must not ask more often.
    await transactions.write((tx) => store.asked(tx, guid, 1, clock.nowMs() + pauseMs));
    try {
      const { rest } = await app.asApp();
      const request = { signal: stopping };
      await rest.apps.redeliverWebhookDelivery({ delivery_id: waiting.deliveryId, request });
    } catch (error) {
      const nowMs = clock.nowMs();
      if (failureOf(error, nowMs).kind !== 'refused') {
        await transactions.write((tx) => store.asked(tx, guid, -1, nowMs));
        throw error;
      }
      await giveUp(waiting, 'GitHub does not deliver it again');
      return gapMs;
    }
    observer.delivery('asked');
    log.info('GitHub was asked to deliver again what never arrived');
    return gapMs;
  }

  async function giveUp({ guid, event, asks }: WaitingDelivery, reason: string): Promise<void> {
    await transactions.write((tx) => store.giveUp(tx, guid));
    observer.delivery('given_up');
    logger.error({ delivery: guid, event, asks, reason }, 'a lost delivery is given up');
  }

  async function work(nowMs: number, stopping: AbortSignal): Promise<number> {
    nextWalkMs ??= nowMs + firstWalkMs;
    if (walk !== null || nextWalkMs <= nowMs) {
      walk = await readPage(walk ?? (await begin(nowMs)), nowMs, stopping);
      if (walk === null) nextWalkMs = nowMs + jittered(everyMs, parts.random());
      return 0;
    }
    const waiting = await store.due(nowMs);
    if (waiting) return settle(waiting, stopping);
    const dueMs = Math.min(nextWalkMs, (await store.nextDueMs()) ?? Number.POSITIVE_INFINITY);
    return Math.min(Math.max(dueMs - nowMs, 1), longestPauseMs);
  }

  async function step(stopping: AbortSignal): Promise<number> {
    const nowMs = clock.nowMs();
    const laterThanMs = untrustedFrom(nowMs);
    if (laterThanMs !== null) {
      [nextWalkMs, pausedUntilMs] = [0, 0];
      await transactions.write((tx) => store.bringForward(tx, laterThanMs, nowMs));
    }
    if (pausedUntilMs > nowMs) return Math.min(pausedUntilMs - nowMs, longestPauseMs);
    try {
      return await work(nowMs, stopping);
    } catch (error) {
      if (stopping.aborted) return 0;
      const failure = failureOf(error, nowMs);
      // A place in the list does not stay good for ever.
      if (failure.kind === 'refused') walk = null;
      pausedUntilMs = nowMs + Math.max(failure.kind === 'later' ? failure.waitMs : 0, againMs);
      logger.warn({ err: error, pausedUntilMs }, 'GitHub could not be asked for lost deliveries');
      return Math.min(pausedUntilMs - nowMs, longestPauseMs);
    }
  }

  return {
    step,
    ...createLoop({
      step,
      onError: (error) => logger.error({ err: error }, 'looking for lost deliveries failed, it goes on'),
    }),
  };
}
