import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { Refusal } from '../conversation.ts';
import type { Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Reference } from './act.ts';
import { endOfSecondMs, type PullRequestComment } from './comment.ts';

export type Previewed =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * The preview that whoever wrote the comment can have looked at. Refused when the pull request has got something since
 * then, seen or not: what is run is what was looked at.
 */
export async function lastPreviewed(
  parts: { readonly runs: Pick<RunStore, 'newestOfPullRequest'>; readonly reference: Reference },
  stack: Stack,
  comment: PullRequestComment,
  tx?: Tx,
): Promise<Previewed> {
  const { pullRequest, headHash } = comment.pullRequest;
  const which = { type: 'PROPOSED', createdBeforeMs: endOfSecondMs(comment) } as const;
  const run = await parts.runs.newestOfPullRequest(stack.key, pullRequest.number, which, tx);
  if (!run) return { kind: 'refused', refusal: { code: 'not-previewed' } };
  if (run.commit.hash === headHash) return { kind: 'run', run };
  const moved = { seen: run.commit.hash, head: headHash, run: parts.reference(run) };
  return { kind: 'refused', refusal: { code: 'head-moved', ...moved } };
}
