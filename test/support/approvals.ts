import { createSqliteEngine } from '../../src/engine/sqlite-engine.ts';
import { createApprovalJobs } from '../../src/runs/approvals/approval-jobs.ts';
import { createGates, type Gates } from '../../src/runs/approvals/gates.ts';
import { createReviewing } from '../../src/runs/approvals/reviewing.ts';
import type { RunStore } from '../../src/runs/run-store.ts';
import type { Database } from '../../src/storage/database.ts';
import { createGateStore } from '../../src/storage/gate-store.ts';
import { createReviewStore } from '../../src/storage/review-store.ts';

/** As it is where no policy has to approve anything. */
export const noApprovals: Gates = { standing: async () => ({ kind: 'open', isGuarded: false }) };

/** The approval flow of a world that puts its runs together by itself. `guardsOf`: "id version" of each policy. */
export function approvalParts(of: {
  readonly database: Database;
  readonly clock: { nowMs(): number };
  readonly newId: () => string;
  readonly runs: RunStore;
  readonly guardsOf?: () => readonly string[];
}) {
  const { database, runs } = of;
  const basics = { transactions: database, clock: of.clock, newId: of.newId };
  const guards = { guardsOf: async () => of.guardsOf?.() ?? [] };
  const [reviews, runGates] = [createReviewStore(database), createGateStore(database)];
  const queue = createSqliteEngine({ database, ...basics });
  const gates = createGates({ guards, runGates });
  const approvalJobs = createApprovalJobs({ ...basics, runs, queue, guards, gates });
  const reviewing = createReviewing({ ...basics, runs, reviews, runGates, guards, jobs: approvalJobs });
  return { gates, reviewing, approvalJobs, reviews, runGates, queue };
}
