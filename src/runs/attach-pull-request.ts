import type { PullRequest } from '../stacks/pull-request.ts';
import type { Tx } from '../tx.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/**
 * A run that a push made becomes one of the pull request, too. Not a trusted run for one of a fork, whose head may be
 * a commit of ours: closing that must not end what our push started. Null when the run stays as it was.
 */
export async function attachPullRequest(
  runs: Pick<RunStore, 'setPullRequest'>,
  tx: Tx,
  run: Run,
  pullRequest: PullRequest,
): Promise<Run | null> {
  if (pullRequest.isFork && !run.isUntrusted) return null;
  await runs.setPullRequest(tx, run.id, pullRequest);
  return { ...run, pullRequest };
}
