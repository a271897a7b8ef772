import type { Tx } from '../tx.ts';
import type { Outcome, Run } from './run.ts';
import type { NewRun, RunStore } from './run-store.ts';

interface Request
  extends Pick<NewRun, 'stackKey' | 'type' | 'branch' | 'commit' | 'pullRequest' | 'isUntrusted'> {
  readonly unlessCommitHas?: 'newest' | 'any';
}

/** What there is of a commit before a run of it is made. */
export interface Earlier {
  /** The run that makes another one needless. */
  readonly run: Run | null;
  /** Whether a run that is made all the same has to do without secrets. */
  readonly isUntrusted: boolean;
}

/** The server ended them itself: when their commit is told of again, it is previewed again. */
const withdrawn: ReadonlySet<Outcome> = new Set([
  'superseded',
  'pull_request_closed',
  'merge_group_destroyed',
]);

export async function findEarlier(
  runs: Pick<RunStore, 'newestOfType' | 'newestOfCommit'>,
  tx: Tx,
  request: Request,
): Promise<Earlier> {
  const { stackKey, type, commit, unlessCommitHas, isUntrusted = false } = request;
  if (unlessCommitHas === undefined) return { run: null, isUntrusted };
  if (unlessCommitHas === 'newest') {
    const newest = await runs.newestOfType(stackKey, type, tx);
    return { run: newest?.commit.hash === commit.hash ? newest : null, isUntrusted };
  }
  const any = await runs.newestOfCommit(stackKey, type, commit.hash, 'any', tx);
  if (any?.isUntrusted && !isUntrusted && !isOfBranch(any, request)) {
    const trusted = await runs.newestOfCommit(stackKey, type, commit.hash, 'trusted', tx);
    return { run: unlessWithdrawn(trusted), isUntrusted };
  }
  return { run: unlessWithdrawn(any), isUntrusted: isUntrusted || (any?.isUntrusted ?? false) };
}

/**
 * What went without secrets is no answer to a push that may have them. To a pull request of that branch it is one: who
 * opens or reopens it, which readers may, says nothing of who pushed the commit.
 */
const isOfBranch = (run: Run, { pullRequest, branch }: Request): boolean =>
  pullRequest !== undefined && run.branch === branch;

const unlessWithdrawn = (run: Run | null): Run | null =>
  run?.outcome && withdrawn.has(run.outcome) ? null : run;
