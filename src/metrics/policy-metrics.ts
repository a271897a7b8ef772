import type { JudgingObserver } from '../policies/judging-observer.ts';
import { policyKinds } from '../policies/policy.ts';
import type { Family } from './exposition.ts';
import { createHistogram } from './instruments.ts';

/** Counts what policies said. What fails is there from the start, for each kind: that is what alerts ask for. */
export function createPolicyMetrics(): JudgingObserver & { families(): readonly Family[] } {
  const counts = new Map(
    policyKinds.map((kind) => [`${kind} failed`, { labels: { kind, outcome: 'failed' }, value: 0 }]),
  );
  const seconds = createHistogram({
    name: 'slipway_policy_evaluation_seconds',
    help: 'Duration of an evaluation of a policy, start of the engine included.',
    bounds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45],
  });

  return {
    judged({ kind, outcome, durationMs }) {
      const key = `${kind} ${outcome}`;
      const count = counts.get(key) ?? { labels: { kind, outcome }, value: 0 };
      counts.set(key, { ...count, value: count.value + 1 });
      seconds.observe(durationMs / 1000);
    },
    families: () => [
      {
        name: 'slipway_policy_evaluations_total',
        help: 'Evaluations of policies, by kind and by what the policy said. Without those of the workbench.',
        type: 'counter',
        samples: [...counts.values()],
      },
      seconds.family(),
    ],
  };
}
