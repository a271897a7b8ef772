import type { AttemptObserver } from '../webhooks/sending/attempt-observer.ts';
import type { Family } from './exposition.ts';
import { createCounter, createHistogram } from './instruments.ts';

/** Counts what becomes of the attempts to send webhooks. */
export function createWebhookMetrics(): AttemptObserver & { families(): readonly Family[] } {
  const attempts = createCounter({
    name: 'slipway_webhook_attempts_total',
    help: 'Attempts to send a webhook that ended, by outcome.',
    label: 'outcome',
    values: ['delivered', 'failed', 'blocked', 'unknown'],
  });
  const attemptSeconds = createHistogram({
    name: 'slipway_webhook_attempt_seconds',
    help: 'Duration of an attempt, from the look-up of the name to the end of the answer.',
    bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20],
  });
  const lagSeconds = createHistogram({
    name: 'slipway_webhook_delivery_lag_seconds',
    help: 'Time from a state change to the beginning of the first attempt to deliver it.',
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
  });
  const endToEndSeconds = createHistogram({
    name: 'slipway_webhook_end_to_end_seconds',
    help: 'Time from a state change to its delivery, over all attempts. Without resends.',
    bounds: [
      0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 1800, 7200, 28_800, 86_400, 259_200,
    ],
  });
  let exhausted = 0;

  return {
    attemptEnded(attempt) {
      attempts.add(attempt.outcome);
      attemptSeconds.observe(attempt.durationMs / 1000);
      if (attempt.lagMs !== null) lagSeconds.observe(attempt.lagMs / 1000);
      if (attempt.endToEndMs !== null) endToEndSeconds.observe(attempt.endToEndMs / 1000);
      if (attempt.isExhausted) exhausted += 1;
    },
    families: () => [
      attempts.family(),
      attemptSeconds.family(),
      lagSeconds.family(),
      endToEndSeconds.family(),
      {
        name: 'slipway_webhook_deliveries_exhausted_total',
        help: 'Deliveries that were given up after the last attempt of the schedule.',
        type: 'counter',
        samples: [{ value: exhausted }],
      },
    ],
  };
}
