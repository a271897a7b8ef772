import type { Tx } from '../../tx.ts';
import type { JobQueue } from '../job-queue.ts';
import { judgeJob, judgeQueue } from '../judge-jobs.ts';
import type { Run } from '../run.ts';
import type { Reactor } from '../run-event.ts';
import type { RunStore } from '../run-store.ts';
import type { Gates } from './gates.ts';
import type { Guards } from './guards.ts';
import { isReviewed, reviewedStates } from './review.ts';

/** Lets approval policies judge: each wish is a job, written in the transaction that gives the reason for it. */
export interface ApprovalJobs {
  /** A run came into a state in which it waits for them. */
  readonly reactor: Reactor;
  /** Who is judging the run right now is overtaken: what they looked at has changed. */
  judgeAnew(tx: Tx, runId: string): Promise<void>;
  /** Unless that is asked for already. */
  judge(tx: Tx, runId: string): Promise<void>;
  /** Which policies judge those stacks, or what these say, has changed. */
  policiesChanged(tx: Tx, stackKeys: readonly string[]): Promise<void>;
  /** Now and then: a net below whoever forgot to say that something has changed. */
  sweep(): Promise<void>;
}

/** Somebody waits for it: before what only tells of something. */
const approvalPriority = 1;

export function createApprovalJobs(parts: {
  runs: Pick<RunStore, 'unfinished' | 'inState' | 'find'>;
  queue: Pick<JobQueue, 'enqueue' | 'cancel'>;
  guards: Guards;
  gates: Gates;
  transactions: { write<T>(work: (tx: Tx) => Promise<T>): Promise<T> };
}): ApprovalJobs {
  const { runs, queue, guards, gates } = parts;
  const jobOf = (runId: string) => judgeJob({ kind: 'approval', runId }, approvalPriority);

  async function judge(tx: Tx, runId: string): Promise<void> {
    await queue.enqueue(tx, jobOf(runId));
  }

  async function judgeAnew(tx: Tx, runId: string): Promise<void> {
    const job = jobOf(runId);
    // Its holder finds the lease lost, so that nothing comes of a judgement of what was before.
    await queue.cancel(tx, judgeQueue, job.key);
    await queue.enqueue(tx, job);
  }

  /** A preview that waits for a review waits for policies alone: without any it goes on, too. */
  async function lacksJudgement(run: Run, tx?: Tx): Promise<boolean> {
    const standing = await gates.standing(run, tx);
    if (standing.kind === 'shut') return standing.isUnjudged;
    return run.state === 'PENDING_REVIEW';
  }

  return {
    reactor: async (tx, { run }) => {
      if (!isReviewed(run.state)) return;
      const isGuarded = (await guards.guardsOf(run.stackKey, tx)).length > 0;
      if (isGuarded || run.state === 'PENDING_REVIEW') await judgeAnew(tx, run.id);
    },
    judge,
    judgeAnew,
    async policiesChanged(tx, stackKeys) {
      for (const stackKey of stackKeys) {
        for (const run of await runs.unfinished(stackKey, tx)) {
          if (isReviewed(run.state)) await judgeAnew(tx, run.id);
        }
      }
    },
    async sweep() {
      for (const run of await runs.inState(reviewedStates)) {
        if (!(await lacksJudgement(run))) continue;
        await parts.transactions.write((tx) => judge(tx, run.id));
      }
    },
  };
}
