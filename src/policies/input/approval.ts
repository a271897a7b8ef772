import type { z } from 'zod';
import type { Role } from '../../access/actor.ts';
import type { RunState } from '../../runs/run.ts';
import type { Stack } from '../../stacks/stack.ts';
import { nanosecondsOf } from './moment.ts';
import { type RunFacts, runInput, sessionInput } from './run.ts';
import type * as schemas from './schemas/approval.ts';
import { stackInput } from './stack.ts';

/** A person's review, as inputs need it. */
export interface ReviewFacts {
  readonly verdict: 'approve' | 'reject';
  /** See access/actor.ts `actorKey`. */
  readonly reviewerKey: string;
  readonly reviewerName: string;
  readonly role: Role;
  /** Of the run at that time. */
  readonly state: RunState;
  readonly note: string | null;
  readonly atMs: number;
}

export interface ApprovalFacts extends RunFacts {
  readonly stack: Stack;
  readonly reviews: {
    /** Of the state in which the run is, and earlier approvals of the same changes; in any order. */
    readonly current: readonly ReviewFacts[];
    /** Of the states that it has left, the newest first. */
    readonly older: readonly { readonly state: RunState; readonly reviews: readonly ReviewFacts[] }[];
  };
  readonly nowMs: number;
}

type Input = z.infer<typeof schemas.approvalInput>;
type Sides = Input['reviews']['current'];

/** What approval policies judge. */
export function approvalInput(facts: ApprovalFacts): Input {
  const { current, older } = facts.reviews;
  return {
    run: runInput(facts),
    stack: stackInput(facts.stack),
    reviews: {
      current: sidesOf(current),
      older: older.map(({ state, reviews }) => ({ state, ...sidesOf(reviews) })),
    },
    request: { timestamp_ns: nanosecondsOf(facts.nowMs) },
  };
}

/** Only the newest review of a person counts. */
function sidesOf(reviews: readonly ReviewFacts[]): Sides {
  const newest = new Map<string, ReviewFacts>();
  for (const review of reviews.toSorted((a, b) => a.atMs - b.atMs)) {
    // Taken out first, so that the order is that of the reviews that count.
    newest.delete(review.reviewerKey);
    newest.set(review.reviewerKey, review);
  }
  const of = (verdict: ReviewFacts['verdict']) =>
    [...newest.values()].filter((review) => review.verdict === verdict).map(reviewInput);
  return { approvals: of('approve'), rejections: of('reject') };
}

function reviewInput({
  reviewerKey,
  reviewerName,
  role,
  state,
  note,
  atMs,
}: ReviewFacts): Sides['approvals'][number] {
  const session = sessionInput(reviewerKey, reviewerName);
  const request = { timestamp_ns: nanosecondsOf(atMs) };
  return { author: session.login, role, session, request, state, note };
}
