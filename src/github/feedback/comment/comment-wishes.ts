import type { Clock } from '../../../clock.ts';
import { isTerminal, type Run } from '../../../runs/run.ts';
import type { Reactor } from '../../../runs/run-event.ts';
import type { RunStore } from '../../../runs/run-store.ts';
import type { Transactions, Tx } from '../../../tx.ts';
import type { OutboxStore } from '../outbox-store.ts';
import { commentItem, commentItemId, type PullRequestPlace } from './comment-item.ts';

/** Writes down that the comment of a pull request has something new to show. */
export interface CommentWishes {
  /** Of a run that changed. */
  readonly reactor: Reactor;
  /**
   * A pull request was told of: its newest commit is another one, or a run that a push had made became one of it, which
   * may be over. Nothing happens for one without runs and without a comment.
   */
  changed(place: PullRequestPlace): Promise<void>;
  /** Markdown, instead of what was answered before. `isPatient`: it may wait for what comes of it. */
  answer(
    tx: Tx,
    place: PullRequestPlace,
    answer: string,
    how: { readonly isPatient: boolean },
  ): Promise<void>;
}

/**
 * A comment may be written every ten seconds (`commentGapMs`). So what is only on its way waits for as long: a preview
 * that takes a few seconds is told at once when it is done, instead of ten seconds after it began.
 */
export const commentGapMs = 10_000;

export function createCommentWishes(parts: {
  readonly store: Pick<OutboxStore, 'want' | 'touch' | 'find'>;
  readonly runs: Pick<RunStore, 'ofPullRequest'>;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): CommentWishes {
  const { store, runs, transactions, clock, onWanted } = parts;

  /** Never later than it was going to be written anyway. */
  async function want(tx: Tx, place: PullRequestPlace, waitMs: number, answer?: string): Promise<void> {
    const id = commentItemId(place);
    const known = await store.find(id, tx);
    const dueMs = clock.nowMs() + waitMs;
    const atMs = known && !known.isSettled ? Math.min(known.nextAtMs, dueMs) : dueMs;
    if (answer === undefined && known) await store.touch(tx, id, atMs);
    else await store.want(tx, commentItem(place, answer ?? null), atMs);
    tx.afterCommit(onWanted);
  }

  return {
    async reactor(tx, { run, stack }) {
      if (!run.pullRequest) return;
      const place = { repositoryId: stack.repository.id, number: run.pullRequest.number };
      await want(tx, place, isOnTheWay(run) ? commentGapMs : 0);
    },

    async changed(place) {
      await transactions.write(async (tx) => {
        const itsRuns = await runs.ofPullRequest(place.repositoryId, place.number, tx);
        if (itsRuns.length === 0 && !(await store.find(commentItemId(place), tx))) return;
        await want(tx, place, itsRuns.some(isOnTheWay) ? commentGapMs : 0);
      });
    },

    answer: (tx, place, answer, { isPatient }) => want(tx, place, isPatient ? commentGapMs : 0, answer),
  };
}

function isOnTheWay({ state }: Run): boolean {
  return !isTerminal(state) && state !== 'UNCONFIRMED' && state !== 'PENDING_REVIEW';
}
