import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { Refusal } from '../conversation.ts';
import type { Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Reference } from './act.ts';
import { endOfSecondMs, type PullRequestComment } from './comment.ts';

type Runs = Pick<RunStore, 'newestOfPullRequest' | 'events'>;

export type Previewed =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * The preview that whoever wrote the comment can have looked at: done by then. Refused when the pull request has got
 * something since then, seen or not: what is run is what was looked at.
 */
export async function lastPreviewed(
  parts: { readonly runs: Runs; readonly reference: Reference },
  stack: Stack,
  comment: PullRequestComment,
  tx?: Tx,
): Promise<Previewed> {
  const { pullRequest, headHash } = comment.pullRequest;
  const run = await newestSeen(parts.runs, stack.key, pullRequest.number, endOfSecondMs(comment), tx);
  if (!run) return { kind: 'refused', refusal: { code: 'not-previewed' } };
  if (run.commit.hash === headHash) return { kind: 'run', run };
  const moved = { seen: run.commit.hash, head: headHash, run: parts.reference(run) };
  return { kind: 'refused', refusal: { code: 'head-moved', ...moved } };
}

/** The newest preview that was done before that time; one that failed or was stopped shows nothing. */
async function newestSeen(
  runs: Runs,
  stackKey: string,
  number: number,
  beforeMs: number,
  tx?: Tx,
): Promise<Run | null> {
  for (let createdBeforeMs = beforeMs; ; ) {
    const which = { type: 'PROPOSED', createdBeforeMs, isOver: true } as const;
    const run = await runs.newestOfPullRequest(stackKey, number, which, tx);
    if (!run) return null;
    const done = (await runs.events(run.id, tx)).find(({ state }) => state === 'FINISHED');
    if (done && done.timestampMs < beforeMs) return run;
    createdBeforeMs = run.createdAtMs;
  }
}
