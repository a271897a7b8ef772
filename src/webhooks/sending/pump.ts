import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../logger.ts';
import type { Transactions } from '../../tx.ts';
import type { Claim, DeliveryStore } from '../delivery-store.ts';
import type { WebhookStore } from '../webhook-store.ts';
import { createAlarm } from './alarm.ts';
import { type AttemptEnd, type AttemptParts, attempt } from './attempt.ts';
import { type ClaimLimits, createClaiming } from './claiming.ts';
import { loggedNotices, type Notices } from './notices.ts';
import { createPlaces, type Job } from './places.ts';
import { createReadyList } from './ready-list.ts';
import { storeResults } from './results.ts';
import { attemptDelaysMs } from './schedule.ts';

/**
 * Sends what is due, over and over: one transaction stores the results of the last moments and claims what
 * comes next, then all of that is sent outside of it. Under load a transaction carries hundreds of results,
 * at rest there is none. It knows neither HTTP nor when to retry.
 */
export interface Pump extends AsyncDisposable {
  /** Ends the leases of a former life of this server, then runs until disposed of. */
  start(): Promise<void>;
  /**
   * There may be something due, for the webhook if one is named. Never needed for correctness: the pump looks by
   * itself every second.
   */
  wake(webhookId?: string): void;
  /** The webhook was changed or removed: what is claimed and not begun goes by what it was. */
  recall(webhookId: string): void;
}

export interface PumpLimits extends ClaimLimits {
  /** Longer than the slowest attempt (15 s and 2 s for the body), so that a live one is never taken over. */
  readonly leaseMs: number;
  /** Of a lease, so much may pass before the attempt begins; what is in line for longer is given back. */
  readonly lineMs: number;
  /** Under load results are stored when there are so many, or after so long. */
  readonly groupRows: number;
  readonly groupMs: number;
  /** What is in flight at the end may take so long; the rest is given up. */
  readonly drainMs: number;
}

export const pumpLimits: PumpLimits = {
  inFlight: 256,
  perWebhook: 4,
  leaseMs: 45_000,
  lineMs: 5000,
  pollMs: 1000,
  groupRows: 400,
  groupMs: 10,
  drainMs: 10_000,
};

export interface PumpParts extends Omit<AttemptParts, 'random' | 'delaysMs'> {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly transactions: Transactions;
  /** Who hears of trouble; the log if nobody else. */
  readonly notices?: Notices;
  readonly random?: () => number;
  readonly delaysMs?: readonly number[];
  readonly limits?: PumpLimits;
  /** Hears of every end, before it is stored. Must not throw. */
  readonly observe?: (end: AttemptEnd) => void;
}

export function createPump(parts: PumpParts): Pump {
  const { deliveries, transactions, clock, logger, limits = pumpLimits } = parts;
  const attemptParts: AttemptParts = { random: Math.random, delaysMs: attemptDelaysMs, ...parts };
  const resultParts = { notices: loggedNotices(logger), ...parts };
  const ready = createReadyList();
  const places = createPlaces(limits);
  const claim = createClaiming({ ...parts, ready, places, limits });
  const stop = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const alarm = createAlarm();
  let ends: AttemptEnd[] = [];
  let groupTimer: NodeJS.Timeout | null = null;
  let loop: Promise<void> = Promise.resolve();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let lastMs = Number.NEGATIVE_INFINITY;

  /** Stores what ended, claims what may start, and starts it. True when there may be more to claim. */
  async function turn(): Promise<boolean> {
    const nowMs = clock.nowMs();
    const mayClaim = !stop.signal.aborted && !isEmpty(ready.due(nowMs));
    if (ends.length === 0 && !mayClaim) return false;
    if (groupTimer !== null) clearTimeout(groupTimer);
    groupTimer = null;
    let storing: AttemptEnd[] = [];
    try {
      const jobs = await transactions.write(async (tx) => {
        // Not before: what ends while others write counts against its webhook as long as it is not stored.
        storing = ends;
        ends = [];
        await storeResults(resultParts, tx, storing);
        return mayClaim ? claim(tx, nowMs) : [];
      });
      places.stored();
      for (const job of places.add(jobs)) launch(job);
      return jobs.length > 0 && !isEmpty(ready.due(nowMs));
    } catch (error) {
      ends = [...storing, ...ends];
      throw error;
    }
  }

  function launch(job: Job): void {
    const done = attempt(attemptParts, job.claim, job.webhook).then((end) => {
      inFlight.delete(done);
      ends.push(end);
      const { next, back } = places.ended(job, isGood(end));
      if (next !== null) launch(next);
      giveBack(back);
      ready.add(job.claim.webhookId);
      report(logger, end);
      parts.observe?.(end);
      store();
    });
    inFlight.add(done);
  }

  /** Delivered, and so soon that the next in line, which was claimed no earlier, has enough of its lease left. */
  function isGood(end: AttemptEnd): boolean {
    if (end.kind !== 'finished' || stop.signal.aborted) return false;
    const ageMs = clock.nowMs() - end.claim.startedAtMs;
    return end.finished.status === 'delivered' && ageMs >= 0 && ageMs < limits.lineMs;
  }

  function giveBack(claims: readonly Claim[]): void {
    for (const unsent of claims) ends.push({ kind: 'unsent', claim: unsent });
  }

  /** Results are stored at once, or together with more while there is enough to do without a transaction. */
  function store(): void {
    const isPressing = places.inLine === 0 && ends.length >= places.inFlight;
    if (isPressing || ends.length >= limits.groupRows) alarm.ring();
    else groupTimer ??= setTimeout(() => alarm.ring(), limits.groupMs);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await look();
        if (!(await turn())) await alarm.wait(pauseMs());
        // What comes at the same time is stored together.
        await nextTurn();
      } catch (error) {
        // The database refuses: results are kept and stored once it is back.
        logger.error({ err: error }, 'webhook pump failed');
        await alarm.wait(limits.pollMs);
      }
    }
  }

  /** Once a second, or when told that there may be something somewhere: searches every queue. */
  async function look(): Promise<void> {
    const nowMs = clock.nowMs();
    // A clock that is set back must not make everything that is planned wait for it.
    if (nowMs < lastMs - limits.pollMs)
      await transactions.write((tx) => deliveries.moveTimes(tx, lastMs - nowMs));
    lastMs = nowMs;
    if (performance.now() - lookedAt < limits.pollMs) return;
    lookedAt = performance.now();
    // Its receiver stopped answering: what is not begun waits in the database again, where it can be stopped.
    giveBack(places.clear(nowMs - limits.pollMs));
    for (const { webhookId, nextAtMs } of await deliveries.queues()) {
      if (nextAtMs !== null) ready.expect(webhookId, nextAtMs);
    }
  }

  function pauseMs(): number {
    const dueMs = ready.nextAtMs();
    const untilDue = dueMs === null ? limits.pollMs : dueMs - clock.nowMs();
    // What is due but was not claimed waits for one in flight, which rings: no reason to spin.
    return untilDue <= 0 ? limits.pollMs : Math.min(untilDue, limits.pollMs);
  }

  /** Results are stored as they come: what is killed while it waits has forgotten as little as possible. */
  async function drain(): Promise<void> {
    const timer = setTimeout(() => parts.sender.giveUp(), limits.drainMs);
    try {
      while (inFlight.size > 0) {
        await Promise.race(inFlight);
        await turn();
      }
      await turn();
    } catch (error) {
      logger.error({ err: error }, 'webhook pump could not store its last results');
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    wake(webhookId) {
      if (webhookId === undefined) lookedAt = Number.NEGATIVE_INFINITY;
      else ready.add(webhookId);
      alarm.ring();
    },
    recall(webhookId) {
      giveBack(places.recall(webhookId));
      ready.add(webhookId);
      alarm.ring();
    },
    async start() {
      await transactions.write((tx) => deliveries.endLeases(tx));
      loop = run();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      giveBack(places.clear());
      parts.sender.stop();
      alarm.ring();
      await loop;
      await drain();
    },
  };
}

/** Ids only: an endpoint's path or query may be a credential. */
function report(logger: Logger, end: AttemptEnd): void {
  if (end.kind === 'unsent') return;
  const { deliveryId: delivery, attempt, outcome, error, detail } = end.finished;
  const fields = { delivery, webhook: end.claim.webhookId, attempt, outcome, error, detail };
  logger.debug(fields, 'webhook attempt ended');
}

function isEmpty(values: Iterable<unknown>): boolean {
  for (const _ of values) return false;
  return true;
}
