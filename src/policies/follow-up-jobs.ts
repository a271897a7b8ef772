import type { JobQueue } from '../runs/job-queue.ts';
import { judgeJob } from '../runs/judge-jobs.ts';
import { isBlocking, isTerminal } from '../runs/run.ts';
import type { Reactor } from '../runs/run-event.ts';
import type { PolicyStore } from './policy-store.ts';

/**
 * Lets policies judge what has happened: notification policies every change of a run, trigger policies the end of one
 * that may have changed something. The jobs are written in the transaction of the change; no run waits for them.
 */
export function createFollowUpJobs(parts: {
  policies: Pick<PolicyStore, 'ofStack'>;
  queue: Pick<JobQueue, 'enqueue'>;
}): Reactor {
  const { policies, queue } = parts;
  return async (tx, { run, stack }) => {
    const { id: runId, stateVersion } = run;
    const isJudged = async (kind: 'TRIGGER' | 'NOTIFICATION') =>
      (await policies.ofStack(stack.key, kind, tx)).length > 0;
    if (isBlocking(run.type) && isTerminal(run.state) && (await isJudged('TRIGGER'))) {
      await queue.enqueue(tx, judgeJob({ kind: 'trigger', runId, stateVersion }));
    }
    if (await isJudged('NOTIFICATION')) {
      await queue.enqueue(tx, judgeJob({ kind: 'notification', runId, stateVersion }));
    }
  };
}
