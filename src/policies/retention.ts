import type { Clock } from '../clock.ts';
import { inPieces, type Transactions } from '../tx.ts';
import type { NoticeStore } from './notice-store.ts';
import type { DecisionStore, SampleStore } from './policy-store.ts';

const dayMs = 24 * 60 * 60 * 1000;
const samplesKeptMs = 7 * dayMs;
const removedAtOnce = 500;

interface RetentionParts {
  readonly samples: Pick<SampleStore, 'deleteBefore'>;
  readonly decisions: Pick<DecisionStore, 'deleteBefore'>;
  readonly notices: Pick<NoticeStore, 'removeBefore'>;
  /** Decisions and notices about no run are kept for so many days; 0 = for ever. */
  readonly auditDays: number;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Lets go of samples after a week, and of decisions and notices that no run keeps when the audit log lets go. */
export async function sweepDecisions(parts: RetentionParts, signal: AbortSignal): Promise<void> {
  const { samples, decisions, notices, auditDays, transactions, clock } = parts;
  const nowMs = clock.nowMs();
  await transactions.write((tx) => samples.deleteBefore(tx, nowMs - samplesKeptMs));
  if (auditDays === 0) return;
  const beforeMs = nowMs - auditDays * dayMs;
  const pieces = { transactions, atOnce: removedAtOnce };
  await inPieces(pieces, signal, (tx, limit) => decisions.deleteBefore(tx, beforeMs, limit));
  await inPieces(pieces, signal, (tx, limit) => notices.removeBefore(tx, beforeMs, limit));
}
