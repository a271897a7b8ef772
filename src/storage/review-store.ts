import type { Role } from '../access/actor.ts';
import type { Review, ReviewedState, Verdict } from '../runs/approvals/review.ts';
import type { ReviewStore } from '../runs/approvals/review-store.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { RunReviewRow } from './policy-rows.ts';

export function createReviewStore(database: Database): ReviewStore {
  const all = (tx: Tx | undefined) =>
    (tx ? database.inside(tx) : database.read).selectFrom('run_review').selectAll().orderBy('id');

  return {
    async insert(tx, review) {
      await database
        .inside(tx)
        .insertInto('run_review')
        .values({
          id: review.id,
          run_id: review.runId,
          stack_key: review.stackKey,
          state: review.state,
          state_version: review.stateVersion,
          changes_digest: review.changesDigest,
          verdict: review.verdict,
          reviewer_key: review.reviewer.key,
          reviewer_name: review.reviewer.name,
          role: review.role,
          via: review.via,
          note: review.note,
          at_ms: review.atMs,
        })
        .execute();
    },

    ofRun: async (runId, tx) => (await all(tx).where('run_id', '=', runId).execute()).map(toReview),

    async ofSameChanges({ id, stackKey, changesDigest }, tx) {
      if (changesDigest === undefined) return [];
      const ofChanges = all(tx).where('stack_key', '=', stackKey).where('changes_digest', '=', changesDigest);
      return (await ofChanges.where('run_id', '<', id).execute()).map(toReview);
    },
  };
}

function toReview(row: RunReviewRow): Review {
  return {
    id: row.id,
    runId: row.run_id,
    stackKey: row.stack_key,
    state: row.state as ReviewedState,
    stateVersion: row.state_version,
    changesDigest: row.changes_digest,
    verdict: row.verdict as Verdict,
    reviewer: { key: row.reviewer_key, name: row.reviewer_name },
    role: row.role as Role,
    via: row.via as Review['via'],
    note: row.note,
    atMs: row.at_ms,
  };
}
