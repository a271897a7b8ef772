import type { Role } from '../../access/actor.ts';
import type { Clock } from '../../clock.ts';
import type { NewId } from '../../ids.ts';
import { type Transactions, type Tx, within } from '../../tx.ts';
import { UserError } from '../../user-error.ts';
import type { CommandResult } from '../commands.ts';
import type { Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { ApprovalJobs } from './approval-jobs.ts';
import type { GateStore } from './gate-store.ts';
import type { Guards } from './guards.ts';
import { currentReviews, isReviewed, type Review, type Reviewer, type Verdict } from './review.ts';
import type { ReviewStore } from './review-store.ts';

/**
 * Takes down what people say to runs that wait for approval policies, and lets these judge by it. Rights are the
 * caller's business. No state changes here: what a review leads to is for the policies to say.
 */
export interface Reviewing {
  /**
   * In one transaction, or in the given one; who throws has written nothing. Rejects with `no-approval-policies` when
   * nothing would come of it.
   */
  review(runId: string, request: ReviewRequest, tx?: Tx): Promise<CommandResult>;
  /** All reviews of a run, oldest first. */
  ofRun(runId: string): Promise<readonly Review[]>;
  /** Approvals of earlier runs of its stack that count for it, as its changes are the same; oldest first. */
  carriedTo(run: Run): Promise<readonly Review[]>;
}

export interface ReviewRequest {
  readonly verdict: Verdict;
  readonly reviewer: Reviewer;
  readonly role: Role;
  readonly via: Review['via'];
  readonly note?: string | undefined;
  /** The version that the person looked at; undefined = whatever it is now. */
  readonly stateVersion?: number | undefined;
}

export function createReviewing(parts: {
  runs: Pick<RunStore, 'find' | 'unfinished'>;
  reviews: ReviewStore;
  runGates: Pick<GateStore, 'clear'>;
  guards: Guards;
  jobs: Pick<ApprovalJobs, 'judgeAnew'>;
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
}): Reviewing {
  const { runs, reviews, runGates, jobs } = parts;

  /** The run, and later ones of its stack that want the same changes: they may count the approval, too. */
  async function judgedByIt(tx: Tx, run: Run): Promise<readonly Run[]> {
    if (run.changesDigest === undefined) return [run];
    const unfinished = await runs.unfinished(run.stackKey, tx);
    const isAlike = ({ id, state, changesDigest }: Run) =>
      id > run.id && changesDigest === run.changesDigest && isReviewed(state);
    return [run, ...unfinished.filter(isAlike)];
  }

  return {
    review: (runId, request, given) =>
      within(parts.transactions, given, async (tx) => {
        const run = await runs.find(runId, tx);
        if (!run) throw new UserError('not-found', 'There is no such run.');
        const { state, stateVersion } = run;
        const isMeant = request.stateVersion === undefined || request.stateVersion === stateVersion;
        if (!isMeant || !isReviewed(state)) return { kind: 'conflict', state, stateVersion };
        if ((await parts.guards.guardsOf(run.stackKey, tx)).length === 0) {
          throw new UserError(
            'no-approval-policies',
            'The stack has no approval policies, so nothing comes of a review.',
            { hint: 'Confirm or discard the run instead.' },
          );
        }
        const { verdict, reviewer, role, via, note } = request;
        await reviews.insert(tx, {
          ...{ id: parts.newId(), runId, stackKey: run.stackKey, state, stateVersion },
          ...{ verdict, reviewer, role, via, note: note ?? null, atMs: parts.clock.nowMs() },
          changesDigest: run.changesDigest ?? null,
        });
        for (const { id } of await judgedByIt(tx, run)) {
          // What was said before did not know of it: an approval that is taken back lets nothing pass meanwhile.
          await runGates.clear(tx, id);
          await jobs.judgeAnew(tx, id);
        }
        return { kind: 'done', run };
      }),
    ofRun: (runId) => reviews.ofRun(runId),
    async carriedTo(run) {
      const { current } = currentReviews(run, await reviews.ofRun(run.id), await reviews.ofSameChanges(run));
      return current.approvals.filter(({ runId }) => runId !== run.id);
    },
  };
}
