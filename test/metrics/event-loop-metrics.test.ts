import { createHistogram } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { createEventLoopMetrics } from '../../src/metrics/event-loop-metrics.ts';

it('tells how late the thread was beyond the pause between two looks, and then begins anew', () => {
  const looks = createHistogram();
  const metrics = createEventLoopMetrics(looks);
  const seen = () => metrics.families().map(({ name, samples }) => [name, samples[0]?.value.toFixed(2)]);
  for (const ms of [10, 12, 310]) looks.record(ms * 1e6);

  expect(seen()).toEqual([
    ['nodejs_eventloop_lag_p50_seconds', '0.00'],
    ['nodejs_eventloop_lag_p99_seconds', '0.30'],
    ['nodejs_eventloop_lag_max_seconds', '0.30'],
  ]);
  looks.record(9 * 1e6);
  expect(seen().map(([, value]) => value)).toEqual(['0.00', '0.00', '0.00']);
});
