import { judgedBy } from '../../src/policies/decision.ts';
import type { Evaluation, EvaluationFailure } from '../../src/policies/engine.ts';
import type { Judgement } from '../../src/policies/judgement.ts';
import type { PolicyKind } from '../../src/policies/policy.ts';
import { aPolicy } from '../support/policies.ts';

type Values = Readonly<Record<string, unknown>>;

export const evaluated = (values: Values): Evaluation => ({ kind: 'evaluated', values, durationMs: 5 });

export const failedBy = (code: EvaluationFailure['code'], message = 'it broke'): Evaluation => ({
  kind: 'failed',
  failure: { code, message },
  durationMs: 5,
});

/** What a policy of that name says with these values, or of an evaluation that failed. */
export function judgement(
  kind: PolicyKind,
  said: Values | EvaluationFailure['code'],
  name = 'one',
): Judgement {
  const evaluation = typeof said === 'string' ? failedBy(said) : evaluated(said);
  const rules = typeof said === 'string' ? [] : Object.keys(said);
  return {
    policy: aPolicy({ id: `policy-${name}`, name, kind, rules }),
    ...judgedBy(kind, rules, evaluation),
    inputDigest: '0'.repeat(64),
    durationMs: 5,
    engine: 'opa 1.22.0',
  };
}
