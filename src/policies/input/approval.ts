import type { z } from 'zod';
import type { Review, ReviewStanding } from '../../runs/approvals/review.ts';
import type { Stack } from '../../stacks/stack.ts';
import { nanosecondsOf } from './moment.ts';
import { type RunFacts, runInput, sessionInput } from './run.ts';
import type * as schemas from './schemas/approval.ts';
import { stackInput } from './stack.ts';

export interface ApprovalFacts extends RunFacts {
  readonly stack: Stack;
  readonly reviews: ReviewStanding;
  readonly nowMs: number;
}

type Input = z.infer<typeof schemas.approvalInput>;
type Sides = Input['reviews']['current'];

/** What approval policies judge. */
export function approvalInput(facts: ApprovalFacts): Input {
  const { approvals, rejections } = facts.reviews.current;
  return {
    run: runInput(facts),
    stack: stackInput(facts.stack),
    reviews: {
      current: sidesOf([...approvals, ...rejections]),
      older: statesOf(facts.reviews.older),
    },
    request: { timestamp_ns: nanosecondsOf(facts.nowMs) },
  };
}

/** Of the states that the run has left, the newest first. */
function statesOf(older: readonly Review[]): Input['reviews']['older'] {
  const byVersion = Map.groupBy(older, ({ stateVersion }) => stateVersion);
  return [...byVersion]
    .toSorted(([one], [other]) => other - one)
    .flatMap(([, reviews]) => reviews.slice(0, 1).map(({ state }) => ({ state, ...sidesOf(reviews) })));
}

function sidesOf(reviews: readonly Review[]): Sides {
  const of = (verdict: Review['verdict']) =>
    reviews.filter((review) => review.verdict === verdict).map(reviewInput);
  return { approvals: of('approve'), rejections: of('reject') };
}

function reviewInput({ reviewer, role, state, note, atMs }: Review): Sides['approvals'][number] {
  const session = sessionInput(reviewer.key, reviewer.name);
  const request = { timestamp_ns: nanosecondsOf(atMs) };
  return { author: session.login, role, session, request, state, note };
}
