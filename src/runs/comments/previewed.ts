import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { Refusal } from '../conversation.ts';
import { isTerminal, type Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Order, Reference } from './act.ts';
import { endOfSecondMs } from './comment.ts';

export type Previewed =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * The preview that whoever wrote the comment can have looked at: one that was over by then, and for what applies its
 * plan without asking again, one that has a plan. Refused when the pull request has got something since then, seen or
 * not: what is run is what was looked at.
 */
export async function lastPreviewed(
  parts: {
    readonly runs: Pick<RunStore, 'newestOfPullRequest' | 'events'>;
    readonly reference: Reference;
  },
  stack: Stack,
  { comment, command }: Order,
  tx?: Tx,
): Promise<Previewed> {
  const { runs, reference } = parts;
  const { pullRequest, headHash } = comment.pullRequest;
  const refuse = (refusal: Refusal): Previewed => ({ kind: 'refused', refusal });
  const beforeMs = endOfSecondMs(comment);
  const which = { type: 'PROPOSED', createdBeforeMs: beforeMs } as const;
  const run = await runs.newestOfPullRequest(stack.key, pullRequest.number, which, tx);
  if (!run) return refuse({ code: 'not-previewed' });
  if (run.commit.hash !== headHash) {
    return refuse({ code: 'head-moved', seen: run.commit.hash, head: headHash, run: reference(run) });
  }
  // A task may be what mends a preview that fails.
  const isEnough = command.verb === 'task' ? isTerminal(run.state) : run.state === 'FINISHED';
  const since = (await runs.events(run.id, tx)).find(({ stateVersion }) => stateVersion === run.stateVersion);
  const wasSeen = isEnough && since !== undefined && since.timestampMs < beforeMs;
  return wasSeen ? { kind: 'run', run } : refuse({ code: 'preview-not-seen', run: reference(run) });
}
