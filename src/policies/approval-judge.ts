import type { Clock } from '../clock.ts';
import { currentReviews, isReviewed, type Review, type ReviewStanding } from '../runs/approvals/review.ts';
import type { ReviewStore } from '../runs/approvals/review-store.ts';
import type { ApprovalVerdict, SettleApproval } from '../runs/approvals/settle.ts';
import type { FlagStore } from '../runs/flags.ts';
import type { Run } from '../runs/run.ts';
import type { RunStore } from '../runs/run-store.ts';
import { type Stack, vendorName } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import { combineApproval } from './decisions/approval.ts';
import { inOrder } from './decisions/judgements.ts';
import { approvalInput } from './input/approval.ts';
import type { JudgeHandler } from './judge-loop.ts';
import type { Judgement } from './judgement.ts';
import type { Judging } from './judging.ts';
import { versionOf } from './policy.ts';
import type { PolicyStore } from './policy-store.ts';
import type { Recording } from './recording.ts';

/** A policy that could not be evaluated is asked again after so long: what was missing may be there by then. */
export const againAfterMs = 60_000;

/** Asks the approval policies of its stack about a run that waits for them, and lets the run go by what they say. */
export function createApprovalJudge(parts: {
  runs: Pick<RunStore, 'find' | 'plan'>;
  stacks: Pick<StackStore, 'findByKey'>;
  policies: Pick<PolicyStore, 'ofStack'>;
  reviews: Pick<ReviewStore, 'ofRun' | 'ofSameChanges'>;
  flags: Pick<FlagStore, 'of'>;
  judging: Judging;
  recording: Recording;
  settle: SettleApproval;
  clock: Clock;
}): JudgeHandler<{ readonly runId: string }> {
  async function inputFor(run: Run, stack: Stack, standing: ReviewStanding) {
    const [flags, plan] = await Promise.all([parts.flags.of(run.id), parts.runs.plan(run.id)]);
    return approvalInput({
      ...{ run, stack, flags, nowMs: parts.clock.nowMs() },
      ...(plan ? { plan: { vendor: vendorName(stack.settings.vendor), steps: plan.steps } } : {}),
      reviews: standing,
    });
  }

  return async ({ runId }, signal) => {
    const run = await parts.runs.find(runId);
    const stack = run && (await parts.stacks.findByKey(run.stackKey));
    if (!stack || !isReviewed(run.state)) return () => Promise.resolve('done');
    const policies = await parts.policies.ofStack(stack.key, 'APPROVAL');
    const standing = currentReviews(
      run,
      await parts.reviews.ofRun(run.id),
      await parts.reviews.ofSameChanges(run),
    );
    const input = await inputFor(run, stack, standing);
    const judgements = await parts.judging.judge('APPROVAL', policies, input, { signal });
    const subject = `whether the run may leave ${run.state}`;
    const record = await parts.recording.prepare(judgements, input, { run, stack, subject });
    const verdict = verdictOf(judgements, policies.map(versionOf), standing);

    return async (tx) => {
      const settled = await parts.settle(tx, run, verdict);
      if (settled.kind === 'run-moved') return 'done';
      if (settled.kind === 'policies-changed') return { againAtMs: 0 };
      if (settled.isNews) await record(tx);
      return verdict.outcome === 'failed' ? { againAtMs: parts.clock.nowMs() + againAfterMs } : 'done';
    };
  };
}

/** Pure. */
export function verdictOf(
  judgements: readonly Judgement[],
  guards: readonly string[],
  standing: ReviewStanding,
): ApprovalVerdict {
  const { outcome, messages } = combineApproval(judgements);
  return { outcome, guards, note: noteOf(outcome, judgements, messages, standing.current) };
}

function noteOf(
  outcome: ApprovalVerdict['outcome'],
  judgements: readonly Judgement[],
  messages: readonly string[],
  { approvals, rejections }: ReviewStanding['current'],
): string {
  if (judgements.length === 0) return 'no approval policy judges the stack';
  const saying = inOrder(judgements).filter((judgement) => judgement.outcome === outcome);
  const who = listOf(saying.map(({ policy }) => policy.name));
  const approvedBy =
    approvals.length === 0 ? 'approved by nobody so far' : `approved by ${people(approvals)}`;
  const because = messages.length === 0 ? '' : ` (${messages.slice(0, mostMessages).join('; ')})`;
  switch (outcome) {
    case 'approved':
      return `${approvals.length === 0 ? `${who} let it pass` : approvedBy}${because}`;
    case 'rejected': {
      const by = rejections.length === 0 ? '' : `, rejected by ${people(rejections)}`;
      return `${who} rejected it${by}${because}`;
    }
    case 'undecided':
      return `${who} ${saying.length === 1 ? 'has' : 'have'} not approved it, ${approvedBy}${because}`;
    case 'failed':
      return `${messages.slice(0, mostMessages).join('; ')}`;
  }
}

/** A note stands in lists and webhooks; all of it is among the decisions of the run. */
const mostMessages = 5;

const people = (reviews: readonly Review[]): string => listOf(reviews.map(({ reviewer }) => reviewer.name));

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
