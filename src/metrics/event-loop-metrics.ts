import { monitorEventLoopDelay, type RecordableHistogram } from 'node:perf_hooks';
import type { Family } from './exposition.ts';

const resolutionMs = 10;

/** Nanoseconds from one look to the next. */
type Looks = Pick<RecordableHistogram, 'percentile' | 'max' | 'reset'>;

function startLooking(): Looks {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  return delay;
}

/**
 * How late timers of this process fire, since they were asked for the last time: what everybody waits for when something
 * keeps the server's one thread busy. Under the names that other servers on Node give them.
 */
export function createEventLoopMetrics(delay: Looks = startLooking()): { families(): readonly Family[] } {
  // Measured is the time between two looks, which lie so far apart when nothing is late.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs) / 1000;
  const family = (which: string, help: string, nanoseconds: number): Family => ({
    name: `nodejs_eventloop_lag_${which}_seconds`,
    help: `${help} since the last time this was asked for.`,
    type: 'gauge',
    samples: [{ value: seconds(nanoseconds) }],
  });
  return {
    families() {
      const families = [
        family('p50', 'Median delay of the event loop', delay.percentile(50)),
        family('p99', '99th percentile of the delay of the event loop', delay.percentile(99)),
        family('max', 'Longest delay of the event loop', delay.max),
      ];
      delay.reset();
      return families;
    },
  };
}
