/** What waits for policies: one queue, so that a burst of state changes starts no burst of engines. */
export const judgeQueue = 'judge';

/** `stateVersion` names the state change that it is about; approval is about the run as it stands. */
export type JudgeJob =
  | { readonly kind: 'approval'; readonly runId: string }
  | { readonly kind: 'trigger'; readonly runId: string; readonly stateVersion: number }
  | { readonly kind: 'notification'; readonly runId: string; readonly stateVersion: number };

export function judgeJob(job: JudgeJob, priority = 0) {
  const version = job.kind === 'approval' ? '' : `:${job.stateVersion}`;
  const key = `${job.kind}:${job.runId}${version}`;
  // At once, not "now": a clock that is set back must not put off what is due.
  return { queue: judgeQueue, key, priority, runAtMs: 0, data: job };
}
