import { describe, expect, it } from 'vitest';
import { exposition } from '../../src/metrics/exposition.ts';
import { createWebhookMetrics } from '../../src/metrics/webhook-metrics.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';

describe('the metrics of webhooks', () => {
  it('count attempts by outcome, and measure them in seconds', () => {
    const metrics = createWebhookMetrics();
    const failed = {
      outcome: 'failed',
      durationMs: 15_000,
      lagMs: 3,
      endToEndMs: null,
      isExhausted: false,
    } as const;
    metrics.attemptEnded(failed);
    metrics.attemptEnded({ ...failed, lagMs: null, isExhausted: true });
    metrics.attemptEnded({
      outcome: 'delivered',
      durationMs: 20,
      lagMs: 4,
      endToEndMs: 24,
      isExhausted: false,
    });
    metrics.attemptEnded({
      outcome: 'blocked',
      durationMs: 1,
      lagMs: 0,
      endToEndMs: null,
      isExhausted: false,
    });

    const families = parsePrometheusText(exposition(metrics.families()));
    const value = (sample: string) =>
      families.get(sample.replace(/(_sum|_count|_bucket)?(\{.*)?$/, ''))?.samples.get(sample);
    expect(Object.fromEntries(families.get('slipway_webhook_attempts_total')?.samples ?? [])).toEqual({
      'slipway_webhook_attempts_total{outcome="delivered"}': 1,
      'slipway_webhook_attempts_total{outcome="failed"}': 2,
      'slipway_webhook_attempts_total{outcome="blocked"}': 1,
      'slipway_webhook_attempts_total{outcome="unknown"}': 0,
    });
    expect(value('slipway_webhook_deliveries_exhausted_total')).toBe(1);
    expect(value('slipway_webhook_attempt_seconds_count')).toBe(4);
    expect(value('slipway_webhook_attempt_seconds_bucket{le="10"}')).toBe(2);
    expect(value('slipway_webhook_attempt_seconds_bucket{le="15"}')).toBe(4);
    expect(value('slipway_webhook_delivery_lag_seconds_count')).toBe(3);
    expect(value('slipway_webhook_end_to_end_seconds_sum')).toBeCloseTo(0.024);
  });
});
