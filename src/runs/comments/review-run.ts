import { actorKey, actorName } from '../../access/actor.ts';
import type { Verdict } from '../approvals/review.ts';
import type { Reviewing } from '../approvals/reviewing.ts';
import { type Prepare, refused } from './act.ts';
import { moved } from './moved.ts';
import { type WaitingParts, waitingRun } from './waiting-run.ts';

/** `approve` and `reject`: of the run that waits, the one with a plan to look at before one that has not begun. */
export function createReview(
  verdict: Verdict,
  parts: WaitingParts & { readonly reviewing: Pick<Reviewing, 'review'> },
): Prepare {
  const { reviewing, reference } = parts;
  return (_, { comment, role }) =>
    Promise.resolve(async (tx, stack) => {
      const states = ['UNCONFIRMED', 'PENDING_REVIEW', 'QUEUED'] as const;
      const run = await waitingRun(parts, stack, comment, states, tx);
      if ('code' in run) return refused(run);
      const reviewer = { key: actorKey(comment.actor), name: actorName(comment.actor) };
      const request = { verdict, reviewer, role, via: 'comment', stateVersion: run.stateVersion } as const;
      const result = await reviewing.review(run.id, request, tx);
      if (result.kind === 'conflict') return moved(result, run, reference);
      return { kind: 'reviewed', verdict, run: reference(result.run) };
    });
}
