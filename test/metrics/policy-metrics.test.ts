import { expect, it } from 'vitest';
import { exposition } from '../../src/metrics/exposition.ts';
import { createPolicyMetrics } from '../../src/metrics/policy-metrics.ts';
import { observed } from '../../src/policies/judging-observer.ts';
import { kinds } from '../../src/policies/kinds.ts';
import { aJudgement } from '../support/policies.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';

it('counts what policies said, by kind and outcome, and how long it took', async () => {
  const metrics = createPolicyMetrics();
  const judgements = [
    aJudgement({ outcome: 'denied', durationMs: 90 }),
    aJudgement({ outcome: 'failed', durationMs: 45_000 }),
    aJudgement({ outcome: 'denied', durationMs: 300 }),
  ];
  const judging = observed({ judge: async () => judgements }, metrics);

  const { signal } = new AbortController();
  expect(await judging.judge('PLAN', [], {}, { signal })).toBe(judgements);

  const families = parsePrometheusText(exposition(metrics.families()));
  const counts = Object.fromEntries(families.get('slipway_policy_evaluations_total')?.samples ?? []);
  expect(counts).toMatchObject({
    'slipway_policy_evaluations_total{kind="PLAN",outcome="denied"}': 2,
    'slipway_policy_evaluations_total{kind="PLAN",outcome="failed"}': 1,
    'slipway_policy_evaluations_total{kind="LOGIN",outcome="failed"}': 0,
  });
  expect(Object.keys(counts)).toHaveLength(Object.keys(kinds).length + 1);
  const seconds = families.get('slipway_policy_evaluation_seconds')?.samples;
  expect(seconds?.get('slipway_policy_evaluation_seconds_count')).toBe(3);
  expect(seconds?.get('slipway_policy_evaluation_seconds_bucket{le="0.25"}')).toBe(1);
});
