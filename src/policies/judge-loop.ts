import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Job, JobQueue, Lease } from '../runs/job-queue.ts';
import { type JudgeJob, judgeQueue } from '../runs/judge-jobs.ts';
import type { Transactions, Tx } from '../tx.ts';

/**
 * Does the jobs of the queue `judge`, a few at a time: has each judged outside of any transaction, then lets what came of
 * it be settled in one that also ends the job, if it is still held. So a job that is repeated after a crash does nothing
 * twice.
 */
export interface JudgeLoop {
  /** Jobs that a former life held are free again. Once. */
  start(): Promise<void>;
  /** Gives up what is under way: it stays a job, for the next life. */
  stop(): Promise<void>;
}

/** Rejects for bugs and full disks: tried again later. */
export type JudgeHandler<J> = (job: J, signal: AbortSignal) => Promise<Settle>;
/** Called in the transaction that ends the job; what throws has written nothing. */
export type Settle = (tx: Tx) => Promise<'done' | { readonly againAtMs: number }>;

/** By the kind of the job. */
export type JudgeHandlers = {
  readonly [K in JudgeJob['kind']]: JudgeHandler<Extract<JudgeJob, { kind: K }>>;
};

const firstRetryMs = 1000;
const longestRetryMs = 60_000;
/** Half a dozen beats fit into a lease (engine: 30 s). */
const renewEveryMs = 5000;
/** An idle slot looks again after so long: what was put off is due some time. */
const defaultLookMs = 1000;

export function createJudgeLoop(parts: {
  queue: JobQueue;
  transactions: Transactions;
  handlers: JudgeHandlers;
  clock: Clock;
  logger: Logger;
  /** How many at once. */
  slots?: number;
  lookMs?: number;
}): JudgeLoop {
  const { queue, transactions, handlers, clock, logger, slots = 2, lookMs = defaultLookMs } = parts;
  const stopping = new AbortController();
  let working: readonly Promise<void>[] = [];

  async function slot(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const job = await transactions.write((tx) => queue.claim(tx, judgeQueue));
        if (job) await hold(job);
        else await queue.waitForWork(judgeQueue, lookMs, stopping.signal);
      } catch (error) {
        logger.error({ err: error }, 'a slot of the judge loop failed');
        // Whatever it was may last: do not spin.
        await pause();
      }
    }
  }

  async function hold(job: Job): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([stopping.signal, over.signal]);
    const beating = setInterval(() => void beat(job, over), renewEveryMs);
    try {
      const settle = await handle(job.data as JudgeJob, signal);
      // What was broken off says nothing of the policies.
      if (!signal.aborted) await end(job, settle);
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ err: error, job: job.key }, 'judging failed, it is tried again');
      await putBack(job);
    } finally {
      clearInterval(beating);
    }
  }

  /** For as long as it takes: a job that nobody has and that is not put back would wait for the next life. */
  async function putBack(job: Job): Promise<void> {
    const waitMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(job.attempt - 1, 10));
    while (!stopping.signal.aborted) {
      try {
        await transactions.write((tx) => queue.retryLater(tx, job, clock.nowMs() + waitMs));
        return;
      } catch (error) {
        logger.error({ err: error, job: job.key }, 'a judge job could not be put back');
        await pause();
      }
    }
  }

  const pause = () => delay(lookMs, undefined, { signal: stopping.signal }).catch(() => undefined);

  async function beat(lease: Lease, over: AbortController): Promise<void> {
    try {
      if (!(await queue.renew(lease))) over.abort();
    } catch (error) {
      // The lease outlives several missed beats.
      logger.error({ err: error }, 'the lease of a judge job was not renewed');
    }
  }

  function handle(job: JudgeJob, signal: AbortSignal): Promise<Settle> {
    switch (job.kind) {
      case 'approval':
        return handlers.approval(job, signal);
      case 'trigger':
        return handlers.trigger(job, signal);
      case 'notification':
        return handlers.notification(job, signal);
    }
  }

  async function end(job: Job, settle: Settle): Promise<void> {
    await transactions.write(async (tx) => {
      // Somebody else is at it, or what it was about has changed: another job sees to it.
      if (!(await queue.holds(tx, job))) return;
      const settled = await settle(tx);
      if (settled === 'done') await queue.finish(tx, job);
      else await queue.retryLater(tx, job, settled.againAtMs);
    });
  }

  return {
    async start() {
      await transactions.write(async (tx) => {
        for (const job of await queue.expired(tx, judgeQueue)) await queue.release(tx, job);
      });
      working = Array.from({ length: slots }, slot);
    },
    async stop() {
      stopping.abort();
      await Promise.all(working);
    },
  };
}
