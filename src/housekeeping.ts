import { setTimeout as delay } from 'node:timers/promises';
import type { AuditLog } from './access/audit-log.ts';
import type { Idempotency } from './access/idempotency.ts';
import type { Sessions } from './access/sessions.ts';
import type { Clock } from './clock.ts';
import type { OutboxStore } from './github/feedback/outbox-store.ts';
import { sweepChecks } from './github/feedback/retention.ts';
import type { Logger } from './logger.ts';
import type { NoticeStore } from './policies/notice-store.ts';
import type { DecisionStore, SampleStore } from './policies/policy-store.ts';
import { sweepDecisions } from './policies/retention.ts';
import type { AnsweredComments } from './runs/comments/answered-comments.ts';
import type { Retention } from './runs/retention.ts';
import type { Runs } from './runs/runs.ts';
import type { Transactions } from './tx.ts';
import type { DeliveryStore } from './webhooks/delivery-store.ts';
import type { ReplayStore } from './webhooks/replay-store.ts';
import { sweepAttempts, sweepReplays } from './webhooks/retention.ts';

/** A safety net: wake-ups do the work. */
const sweepEveryMs = 10_000;
/** The same for runs that approval policies have not judged. */
const unjudgedEveryMs = 60_000;
/** Longer than anything tells of a comment again: GitHub for days, the inbox for a week. */
const answeredKeptMs = 30 * 24 * 60 * 60_000;
/** How often it is looked for what is too old. */
const clearEveryMs = 60 * 60_000;

/**
 * What the server does now and then for as long as it runs: looks for lost workers and missed wake-ups, and lets go
 * of what is old. A failure is logged, and the next round comes.
 */
export function startHousekeeping(parts: {
  readonly runs: Pick<Runs, 'recovery' | 'scheduler' | 'approvalJobs'>;
  readonly retention: Retention;
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly outbox: OutboxStore;
  readonly answered: Pick<AnsweredComments, 'removeOld'>;
  readonly sessions: Pick<Sessions, 'removeExpired'>;
  readonly audit: Pick<AuditLog, 'removeOld'>;
  readonly idempotency: Pick<Idempotency, 'removeOld'>;
  readonly decisions: Pick<DecisionStore, 'deleteBefore'>;
  readonly samples: Pick<SampleStore, 'deleteBefore'>;
  readonly notices: Pick<NoticeStore, 'removeBefore'>;
  /** Lets go of caches that nobody uses. */
  readonly sweepCaches: () => Promise<void>;
  /** After so many days checks of commits go; 0 = never. */
  readonly runsDays: number;
  /** After so many days results of attempts and replays go; 0 = never. */
  readonly logsDays: number;
  /** The audit log, and decisions and notices about no run, go back so many days; 0 = for ever. */
  readonly auditDays: number;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly logger: Logger;
}): AsyncDisposable {
  const { runs, retention, logger } = parts;
  const ending = new AbortController();
  const timers = [
    setInterval(() => void trying(sweep), sweepEveryMs),
    setInterval(() => void trying(runs.approvalJobs.sweep), unjudgedEveryMs),
  ];
  const clearing = clearRegularly(ending.signal);

  async function sweep(): Promise<void> {
    await runs.recovery.sweep();
    await runs.scheduler.sweep();
  }

  async function trying(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error({ err: error }, 'a sweep failed, the next one comes');
    }
  }

  async function clearRegularly(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await retention.sweep(signal);
        await sweepAttempts({ ...parts, days: parts.logsDays }, signal);
        await sweepReplays({ ...parts, days: parts.logsDays }, signal);
        await sweepChecks({ ...parts, days: parts.runsDays }, signal);
        await sweepDecisions(parts, signal);
        await clearAnswered();
        await parts.sessions.removeExpired();
        await parts.idempotency.removeOld(signal);
        await parts.audit.removeOld(parts.auditDays, signal);
        await parts.sweepCaches();
      } catch (error) {
        logger.error({ err: error }, 'clearing what is old failed, it is tried again');
      }
      await delay(clearEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async function clearAnswered(): Promise<void> {
    const beforeMs = parts.clock.nowMs() - answeredKeptMs;
    await parts.transactions.write((tx) => parts.answered.removeOld(tx, beforeMs));
  }

  return {
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      ending.abort();
      await clearing;
    },
  };
}
