import type { Judgement } from '../judgement.ts';
import { isTrue, messagesOf } from '../rule-values.ts';
import { anyIs, inOrder, linesOf } from './judgements.ts';

export type ApprovalOutcome = 'approved' | 'rejected' | 'undecided';

/** What one policy says of the reviews of a run: who approves and rejects, rejects. */
export function approvalOf(said: Pick<Judgement, 'values'>): {
  outcome: ApprovalOutcome;
  messages: readonly string[];
} {
  const [approvals, rejections] = [
    messagesOf(said, 'approve_with_note'),
    messagesOf(said, 'reject_with_note'),
  ];
  if (isTrue(said, 'reject') || rejections.length > 0) return { outcome: 'rejected', messages: rejections };
  if (isTrue(said, 'approve') || approvals.length > 0) return { outcome: 'approved', messages: approvals };
  return { outcome: 'undecided', messages: [] };
}

export interface ApprovalDecision {
  /** `failed`: it stays shut, as with `undecided`, but a person has to mend a policy first. */
  readonly outcome: ApprovalOutcome | 'failed';
  /** Each with the name of its policy. */
  readonly messages: readonly string[];
}

/** Every policy has to approve. One that rejects decides alone: no other one can take that back. */
export function combineApproval(judgements: readonly Judgement[]): ApprovalDecision {
  const decided = (['rejected', 'failed', 'undecided'] as const).find((outcome) =>
    anyIs(judgements, outcome),
  );
  return { outcome: decided ?? 'approved', messages: inOrder(judgements).flatMap(linesOf) };
}
