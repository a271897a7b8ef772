import { deliveryFindings, type ReconcileObserver } from '../github/reconcile/reconcile-observer.ts';
import { missedOutcomes } from '../runs/missed-pushes.ts';
import type { Family } from './exposition.ts';
import { createCounter } from './instruments.ts';

/** Counts what GitHub's messages did not tell and comparing with GitHub did. */
export function createReconcileMetrics(): ReconcileObserver & { families(): readonly Family[] } {
  const deliveries = createCounter({
    name: 'slipway_github_lost_deliveries_total',
    help: 'Deliveries of GitHub that never arrived, by what was found or done.',
    label: 'outcome',
    values: deliveryFindings,
  });
  const pushes = createCounter({
    name: 'slipway_github_missed_pushes_total',
    help: 'Stacks whose tracked branch moved without a word from GitHub, by what was done.',
    label: 'outcome',
    values: missedOutcomes,
  });
  return {
    delivery: deliveries.add,
    push: pushes.add,
    families: () => [deliveries.family(), pushes.family()],
  };
}
