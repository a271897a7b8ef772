import type { Judgement } from '../judgement.ts';
import { messagesOf } from '../rule-values.ts';
import { anyIs, inOrder, linesOf } from './judgements.ts';

export type PlanOutcome = 'passed' | 'warned' | 'denied';

/** What one policy says of a plan. */
export function planOf(said: Pick<Judgement, 'values'>): { outcome: PlanOutcome; messages: string[] } {
  const [denials, warnings] = [messagesOf(said, 'deny'), messagesOf(said, 'warn')];
  if (denials.length === 0)
    return { outcome: warnings.length > 0 ? 'warned' : 'passed', messages: [...warnings] };
  return { outcome: 'denied', messages: [...denials, ...warnings.map((warning) => `warning: ${warning}`)] };
}

export interface PlanDecision {
  readonly outcome: PlanOutcome | 'failed';
  /** Each with the name of its policy. */
  readonly messages: readonly string[];
}

/**
 * `isOverridden`: a person lets these changes pass although they are denied, so a denial counts as a warning. What could
 * not be judged stays blocked: nobody knows what would be let pass.
 */
export function combinePlan(judgements: readonly Judgement[], isOverridden = false): PlanDecision {
  const messages = inOrder(judgements).flatMap(linesOf);
  if (anyIs(judgements, 'failed')) return { outcome: 'failed', messages };
  if (anyIs(judgements, 'denied')) return { outcome: isOverridden ? 'warned' : 'denied', messages };
  return { outcome: anyIs(judgements, 'warned') ? 'warned' : 'passed', messages };
}
