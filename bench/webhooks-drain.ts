/** A backlog that is sent as fast as it goes: how fast, at what cost, and what others notice of it. */
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './figure.ts';
import type { SendingWorld } from './webhooks-world.ts';

export interface Drain {
  readonly deliveries: number;
  readonly perSecond: number;
  /** CPU seconds of the sender's process for 1,000 deliveries. */
  readonly cpuOfThousand: number;
  /** Memory of the process in MiB, by tenths of the drain. */
  readonly residentMiB: readonly number[];
  /** Small transactions of somebody else, one every 5 ms; null when there were none. */
  readonly writesP99Ms: number | null;
}

const mostSeconds = 600;

export async function drain(
  world: SendingWorld,
  webhookIds: readonly string[],
  options: { readonly runs: number; readonly withWrites?: boolean },
): Promise<Drain> {
  await world.addBacklog(webhookIds, options.runs);
  const deliveries = webhookIds.length * options.runs;
  const residentMiB: number[] = [];
  const writes: number[] = [];
  const over = new AbortController();
  const writing = options.withWrites ? writeEvery5Ms(world, writes, over.signal) : Promise.resolve();
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  world.wake();
  for (;;) {
    // To count what is left takes time from what is measured.
    await delay(Math.max(50, deliveries / 500));
    const pending = await world.countPending();
    if (residentMiB.length <= ((deliveries - pending) / deliveries) * 10) {
      residentMiB.push(process.memoryUsage.rss() / 1024 ** 2);
    }
    if (pending === 0) break;
    if (performance.now() - startedAt > mostSeconds * 1000) throw new Error(`${pending} were not sent`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(cpu);
  over.abort();
  await writing;
  return {
    deliveries,
    perSecond: deliveries / seconds,
    cpuOfThousand: (used.user + used.system) / 1e6 / (deliveries / 1000),
    residentMiB,
    writesP99Ms: options.withWrites ? percentile(writes, 0.99) : null,
  };
}

/** By the plan, not by the answer: one that waits delays no other. */
async function writeEvery5Ms(world: SendingWorld, times: number[], signal: AbortSignal): Promise<void> {
  const open: Promise<unknown>[] = [];
  while (!signal.aborted) {
    const startedAt = performance.now();
    open.push(world.writeSomething().then(() => times.push(performance.now() - startedAt)));
    await delay(5);
  }
  await Promise.all(open);
}
