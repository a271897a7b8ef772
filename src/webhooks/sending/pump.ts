import type { Logger } from '../../logger.ts';
import type { Transactions, Tx } from '../../tx.ts';
import type { Claim } from '../delivery-store.ts';
import { type AttemptEnd, type AttemptParts, attempt } from './attempt.ts';
import { attemptDelaysMs } from './schedule.ts';

/**
 * Sends what is due, over and over: one transaction stores the results of the last moments and claims what
 * comes next, then all of that is sent outside of it. Under load a transaction carries hundreds of results,
 * at rest there is none. It knows neither HTTP nor when to retry.
 */
export interface Pump extends AsyncDisposable {
  /** Ends the leases of a former life of this server, then runs until disposed of. */
  start(): Promise<void>;
  /** There may be something due. Never needed for correctness: the pump looks by itself every second. */
  wake(): void;
}

export interface PumpLimits {
  /** In flight at once, in all and for one webhook. */
  readonly inFlight: number;
  readonly perWebhook: number;
  /** Longer than the slowest attempt (15 s and 2 s for the body), so that a live one is never taken over. */
  readonly leaseMs: number;
  readonly pollMs: number;
  /** What is in flight at the end may take so long; the rest is given up. */
  readonly drainMs: number;
}

export const pumpLimits: PumpLimits = {
  inFlight: 256,
  perWebhook: 4,
  leaseMs: 45_000,
  pollMs: 1000,
  drainMs: 10_000,
};

export function createPump(
  parts: Omit<AttemptParts, 'random' | 'delaysMs'> & {
    readonly transactions: Transactions;
    readonly random?: () => number;
    readonly delaysMs?: readonly number[];
    readonly limits?: PumpLimits;
  },
): Pump {
  const { deliveries, transactions, clock, logger, limits = pumpLimits } = parts;
  const attemptParts: AttemptParts = { random: Math.random, delaysMs: attemptDelaysMs, ...parts };
  const stop = new AbortController();
  const giveUp = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const alarm = createAlarm();
  let ends: AttemptEnd[] = [];
  let lastWebhook: string | null = null;
  let loop: Promise<void> = Promise.resolve();

  /** Stores what ended, claims what may start. */
  async function turn(): Promise<readonly Claim[]> {
    const free = stop.signal.aborted ? 0 : limits.inFlight - inFlight.size;
    const nowMs = clock.nowMs();
    const dueMs = free > 0 ? await deliveries.nextDueMs() : null;
    const storing = ends;
    if (storing.length === 0 && (dueMs === null || dueMs > nowMs)) return [];
    ends = [];
    try {
      return await transactions.write(async (tx) => {
        for (const end of storing) await store(tx, end);
        if (free <= 0) return [];
        const { perWebhook, leaseMs } = limits;
        const options = { nowMs, leaseUntilMs: nowMs + leaseMs, limit: free, perWebhook };
        return deliveries.claim(tx, { ...options, afterWebhook: lastWebhook });
      });
    } catch (error) {
      ends = [...storing, ...ends];
      throw error;
    }
  }

  async function store(tx: Tx, end: AttemptEnd): Promise<void> {
    if (end.kind === 'unsent') {
      await deliveries.handBack(tx, end.claim, clock.nowMs());
      return;
    }
    await deliveries.finish(tx, end.finished);
    if (end.disable === null) return;
    const disabled = { reason: end.disable, atMs: clock.nowMs() };
    await parts.webhooks.update(tx, end.claim.webhookId, { disabled });
    await deliveries.stopPending(tx, end.claim.webhookId);
  }

  function launch(claim: Claim): void {
    lastWebhook = claim.webhookId;
    const done = attempt(attemptParts, claim, { stop: stop.signal, giveUp: giveUp.signal }).then((end) => {
      inFlight.delete(done);
      ends.push(end);
      report(logger, end);
      alarm.ring();
    });
    inFlight.add(done);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        for (const claim of await turn()) launch(claim);
        await alarm.wait(await pauseMs());
      } catch (error) {
        // The database refuses: results are kept and stored once it is back.
        logger.error({ err: error }, 'webhook pump failed');
        await alarm.wait(limits.pollMs);
      }
    }
  }

  async function pauseMs(): Promise<number> {
    if (inFlight.size >= limits.inFlight) return limits.pollMs;
    const dueMs = await deliveries.nextDueMs();
    const untilDue = dueMs === null ? limits.pollMs : dueMs - clock.nowMs();
    // What is due but was not claimed waits for one in flight, which rings: no reason to spin.
    return untilDue <= 0 ? limits.pollMs : Math.min(untilDue, limits.pollMs);
  }

  /** Results are stored as they come: what is killed while it waits has forgotten as little as possible. */
  async function drain(): Promise<void> {
    const timer = setTimeout(() => giveUp.abort(), limits.drainMs);
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
    wake: () => alarm.ring(),
    async start() {
      await transactions.write((tx) => deliveries.endLeases(tx, clock.nowMs()));
      loop = run();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      alarm.ring();
      await loop;
      await drain();
    },
  };
}

/** Ids only: an endpoint's path or query may be a credential. */
function report(logger: Logger, end: AttemptEnd): void {
  if (end.kind === 'unsent') return;
  const { deliveryId: delivery, attempt, outcome, error, detail, status } = end.finished;
  const fields = { delivery, webhook: end.claim.webhookId, attempt, outcome, error, detail };
  if (status === 'exhausted') logger.warn(fields, 'webhook delivery exhausted');
  else logger.debug(fields, 'webhook attempt ended');
  if (end.disable !== null) logger.warn(fields, 'webhook disabled by its receiver');
}

/** A wait that can be cut short, also by a ring that came before it. */
function createAlarm(): { ring(): void; wait(maxMs: number): Promise<void> } {
  let rung = false;
  let end: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      end?.();
    },
    async wait(maxMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, maxMs);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
      end = null;
    },
  };
}
