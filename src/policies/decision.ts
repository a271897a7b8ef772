import { approvalOf } from './decisions/approval.ts';
import { loginOf } from './decisions/login.ts';
import { notificationOf } from './decisions/notification.ts';
import { planOf } from './decisions/plan.ts';
import { pushOf } from './decisions/push.ts';
import { triggerOf } from './decisions/trigger.ts';
import type { Evaluation, EvaluationFailure } from './engine.ts';
import type { Judgement } from './judgement.ts';
import { kinds, type RuleType } from './kinds.ts';
import type { PolicyKind } from './policy.ts';
import { excessOf, isTrue, problemOf, stringsOf } from './rule-values.ts';
import { shownMessages } from './shown-messages.ts';

/** What one policy said, read from its values. How policies of a kind are combined: `decisions/`. */
export type Reading = Pick<Judgement, 'outcome' | 'messages' | 'values' | 'failure' | 'sample' | 'flags'>;

/** The outcome of one policy and what it gives as reasons, unshortened. */
const readers: Readonly<Record<PolicyKind, (said: Pick<Judgement, 'values'>) => SaidByOne>> = {
  PLAN: planOf,
  PUSH: pushOf,
  APPROVAL: approvalOf,
  TRIGGER: triggerOf,
  NOTIFICATION: notificationOf,
  LOGIN: loginOf,
};

interface SaidByOne {
  readonly outcome: string;
  readonly messages: readonly string[];
}

/** `rules`: those that the policy declares. Total: what cannot be read is the failure `wrong_type`, `output` or `undefined`. */
export function judgedBy(kind: PolicyKind, rules: readonly string[], evaluation: Evaluation): Reading {
  if (evaluation.kind === 'failed') return failed(evaluation.failure);
  const { values } = evaluation;
  for (const [rule, type] of Object.entries(kinds[kind].rules)) {
    const failure = failureOf(rule, type, values, rules.includes(rule));
    if (failure) return failed(failure);
  }
  const { outcome, messages } = readers[kind]({ values });
  return {
    outcome,
    messages: shownMessages(messages),
    values,
    failure: null,
    sample: isTrue({ values }, 'sample'),
    flags: { add: stringsOf({ values }, 'flag'), reset: stringsOf({ values }, 'reset_flag') },
  };
}

/** A rule without a value: false, or no text; a set is there even when it is empty, so something went wrong. */
const mayBeUndefined: ReadonlySet<RuleType> = new Set(['boolean', 'string']);

function failureOf(
  rule: string,
  type: RuleType,
  values: Readonly<Record<string, unknown>>,
  isDeclared: boolean,
): EvaluationFailure | null {
  if (Object.hasOwn(values, rule)) {
    const message = problemOf(rule, type, values[rule]);
    if (message !== null) return { code: 'wrong_type', message };
    const excess = excessOf(rule, type, values[rule]);
    return excess === null ? null : { code: 'output', message: excess };
  }
  if (!isDeclared || mayBeUndefined.has(type)) return null;
  return {
    code: 'undefined',
    message: `${rule} has no value; where nothing is to be said, give an empty set`,
  };
}

function failed(failure: EvaluationFailure): Reading {
  const said = { values: {}, sample: false, flags: { add: [], reset: [] } };
  return { outcome: 'failed', messages: [], failure, ...said };
}
