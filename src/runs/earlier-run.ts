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
  runs: Pick<RunStore, 'newestOfType' | 'newestOfCommit' | 'newestOfBranch'>,
  tx: Tx,
  request: Request,
): Promise<Earlier> {
  const { stackKey, type, branch, commit, unlessCommitHas, pullRequest, isUntrusted = false } = request;
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
  const former = any ?? (pullRequest ? await runs.newestOfBranch(stackKey, type, branch, tx) : null);
  return { run: unlessWithdrawn(any), isUntrusted: isUntrusted || (former?.isUntrusted ?? false) };
}

/**
 * Whether a preview that somebody asks for has to do without secrets: when that of the commit had to, or, without one,
 * the newest of the branch: what was pushed since did not concern the stack, and the rest is still what it was.
 */
export async function wentWithoutSecrets(
  runs: Pick<RunStore, 'newestOfCommit' | 'newestOfBranch'>,
  { stackKey, branch, hash }: { readonly stackKey: string; readonly branch: string; readonly hash: string },
  tx?: Tx,
): Promise<boolean> {
  const former =
    (await runs.newestOfCommit(stackKey, 'PROPOSED', hash, 'any', tx)) ??
    (await runs.newestOfBranch(stackKey, 'PROPOSED', branch, tx));
  return former?.isUntrusted ?? false;
}

/**
 * What went without secrets is no answer to a push that may have them. To a pull request of that branch it is one: who
 * opens or reopens it, which readers may, says nothing of who pushed the commit.
 */
const isOfBranch = (run: Run, { pullRequest, branch }: Request): boolean =>
  pullRequest !== undefined && run.branch === branch;

const unlessWithdrawn = (run: Run | null): Run | null =>
  run?.outcome && withdrawn.has(run.outcome) ? null : run;
