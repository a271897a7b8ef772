import type { Role } from '../../access/actor.ts';
import type { Run, RunState } from '../run.ts';

/** The states in which a run waits for approval policies, where its stack has some. */
export const reviewedStates = ['QUEUED', 'UNCONFIRMED', 'PENDING_REVIEW'] as const satisfies RunState[];
export type ReviewedState = (typeof reviewedStates)[number];

export const isReviewed = (state: RunState): state is ReviewedState =>
  (reviewedStates as readonly RunState[]).includes(state);

export type Verdict = 'approve' | 'reject';

/** What a person said to a run that waits. It decides nothing by itself: policies judge by it. */
export interface Review {
  readonly id: string;
  readonly runId: string;
  readonly stackKey: string;
  /** Where the run was. */
  readonly state: ReviewedState;
  readonly stateVersion: number;
  /** What was reviewed (Run.changesDigest); null before there is a plan. */
  readonly changesDigest: string | null;
  readonly verdict: Verdict;
  readonly reviewer: Reviewer;
  /** What the reviewer was on the stack then. */
  readonly role: Role;
  readonly via: 'api' | 'comment' | 'check';
  readonly note: string | null;
  readonly atMs: number;
}

export interface Reviewer {
  /** Who it is beyond doubt (access/actor.ts `actorKey`). */
  readonly key: string;
  /** A login, or the name of a token. */
  readonly name: string;
}

export interface Reviews {
  readonly approvals: readonly Review[];
  readonly rejections: readonly Review[];
}

/** What approval policies are told. Each list has the oldest first. */
export interface ReviewStanding {
  readonly current: Reviews;
  /** Of earlier states of the run. */
  readonly older: readonly Review[];
}

/**
 * What counts for the run as it stands. `ofRun`: all its reviews; `ofChanges`: those that earlier runs of its stack got
 * for the same changes. Of one person the newest counts alone. Approvals of the same changes are carried over. Rejections
 * are not, but they take away the approvals before them: nobody gets around one by starting the run again.
 */
export function currentReviews(
  { stateVersion }: Pick<Run, 'stateVersion'>,
  ofRun: readonly Review[],
  ofChanges: readonly Review[] = [],
): ReviewStanding {
  const here = ofRun.filter((review) => review.stateVersion === stateVersion);
  const current = newestOfEach([...carried(ofChanges), ...here], ({ reviewer }) => reviewer.key);
  return {
    current: {
      approvals: current.filter(({ verdict }) => verdict === 'approve'),
      rejections: current.filter(({ verdict }) => verdict === 'reject'),
    },
    older: newestOfEach(
      ofRun.filter((review) => review.stateVersion < stateVersion),
      (review) => `${review.stateVersion} ${review.reviewer.key}`,
    ),
  };
}

/** What was approved after the last rejection of these changes. */
function carried(ofChanges: readonly Review[]): readonly Review[] {
  const rejections = ofChanges.filter(({ verdict }) => verdict === 'reject').toSorted(byAge);
  const last = rejections.at(-1);
  return last ? ofChanges.filter((review) => byAge(last, review) < 0) : ofChanges;
}

function newestOfEach(reviews: readonly Review[], keyOf: (review: Review) => string): readonly Review[] {
  const newest = new Map<string, Review>();
  for (const review of reviews.toSorted(byAge)) newest.set(keyOf(review), review);
  return [...newest.values()].sort(byAge);
}

const byAge = (one: Review, other: Review): number => (one.id < other.id ? -1 : 1);
