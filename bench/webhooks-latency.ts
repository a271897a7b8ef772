/** From the commit of a state change to its arrival at the receivers, at a rate that is no load. */
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './figure.ts';
import type { Sink } from './webhooks-sink.ts';
import type { SendingWorld } from './webhooks-world.ts';

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly events: number;
}

const perSecond = 50;

export async function measureLatency(
  sink: Sink,
  world: SendingWorld,
  webhookIds: readonly string[],
  seconds: number,
): Promise<Latency> {
  await sink.ask({ keepTimes: true });
  const committed = new Map<string, number>();
  const startedAt = performance.now();
  for (let event = 0; event < perSecond * seconds; event += 1) {
    const { deliveryIds, committedAtMs } = await world.addEvent(webhookIds);
    for (const id of deliveryIds) committed.set(id, committedAtMs);
    // By the plan: one that is late does not put off the others.
    await delay(Math.max(0, startedAt + ((event + 1) * 1000) / perSecond - performance.now()));
  }
  const times = await arrivalTimes(sink, committed);
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), events: perSecond * seconds };
}

async function arrivalTimes(sink: Sink, committed: ReadonlyMap<string, number>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let look = 0; look < 600; look += 1) {
    const { arrivals } = await sink.ask({ keepTimes: true });
    for (const [id, atMs] of arrivals) {
      const committedAtMs = committed.get(id);
      if (committedAtMs !== undefined) times.push(atMs - committedAtMs);
    }
    if (times.length === committed.size) {
      await sink.ask({ keepTimes: false });
      return times;
    }
    await delay(100);
  }
  throw new Error(`${committed.size - times.length} deliveries did not arrive within a minute`);
}
