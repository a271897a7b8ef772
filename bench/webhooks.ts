/** Outgoing webhooks: the whole loop (claim, sign, post, record) against the HTTP client alone, and how soon. */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Benchmark, type Figure, inMs, median } from './figure.ts';
import { ceiling } from './webhooks-ceiling.ts';
import { type Drain, drain } from './webhooks-drain.ts';
import { type Latency, measureLatency } from './webhooks-latency.ts';
import { type Sink, startSink } from './webhooks-sink.ts';
import { openSendingWorld, type SendingWorld } from './webhooks-world.ts';

const webhooks = 16;
/** As many requests as the webhooks may have in flight together. */
const inFlight = webhooks * 4;
const runs = 1250;
const rounds = 5;
const backlogRuns = 6250;
const latencySeconds = 10;
const [hangingWebhooks, hangingRuns] = [10, 100];
/** The first attempts end after 15 s, and are tried again 5 s later. */
const untilRetriesMs = 22_000;

export const webhookSending: Benchmark = {
  name: 'webhooks',
  about: `deliveries/s against undici alone, CPU, commit to receiver with hanging endpoints, a backlog of ${backlogRuns * webhooks}`,
  async measure(say) {
    await using sink = await startSink();
    await using world = await openSendingWorld();
    await world.start();
    const ids = await world.addWebhooks(
      Array.from({ length: webhooks }, (_, index) => `${sink.origin}/${index}`),
    );
    return [
      ...(await latencies(say, sink, world, ids.slice(0, 3))),
      ...(await throughput(say, sink, world, ids)),
      ...(await backlog(say, world, ids)),
    ];
  },
};

type Say = (line: string) => void;

async function throughput(
  say: Say,
  sink: Sink,
  world: SendingWorld,
  ids: readonly string[],
): Promise<Figure[]> {
  const alone: { perSecond: number; cpuOfThousand: number }[] = [];
  const whole: Drain[] = [];
  // Taken in turns, so that whatever else the machine does meets both. The first is for warming up.
  for (let round = 0; round <= rounds; round += 1) {
    const requests = webhooks * runs;
    const least = await ceiling(sink.origin, { body: world.body, inFlight, requests });
    const drained = await drain(world, ids, { runs });
    if (round === 0) continue;
    alone.push(least);
    whole.push(drained);
    say(`undici ${least.perSecond.toFixed(0)}/s, whole loop ${drained.perSecond.toFixed(0)}/s, ${load()}`);
  }
  const ratio = median(whole.map(({ perSecond }, index) => perSecond / (alone[index]?.perSecond ?? 0)));
  const perSecond = median(whole.map((one) => one.perSecond));
  const cpu = median(whole.map((one) => one.cpuOfThousand));
  const cpuAlone = median(alone.map((one) => one.cpuOfThousand));
  const detail = `${rounds} rounds of ${webhooks * runs} to ${webhooks} webhooks, ${inFlight} in flight, ${load()}`;
  return [
    {
      what: 'webhooks: deliveries/s ÷ requests/s of undici alone',
      value: ratio,
      unit: '',
      detail: `${perSecond.toFixed(0)}/s; ${detail}`,
    },
    {
      what: 'webhooks: CPU of 1,000 deliveries',
      value: cpu,
      unit: 's',
      detail: `undici alone ${cpuAlone.toFixed(3)} s`,
    },
  ];
}

async function latencies(
  say: Say,
  sink: Sink,
  world: SendingWorld,
  ids: readonly string[],
): Promise<Figure[]> {
  const measure = async (what: string): Promise<Latency> => {
    const latency = await measureLatency(sink, world, ids, latencySeconds);
    say(`${what}: ${inMs(latency.p50Ms)} p50, ${inMs(latency.p99Ms)} p99, ${load()}`);
    return latency;
  };
  await measureLatency(sink, world, ids, 1);
  const alone = await measure('undisturbed');
  const hanging = await world.addWebhooks(
    Array.from({ length: hangingWebhooks }, (_, index) => `${sink.origin}/hang/${index}`),
  );
  await world.addBacklog(hanging, hangingRuns);
  const startedAt = performance.now();
  world.wake();
  const queued = await measure(`${hangingWebhooks * hangingRuns} queued for endpoints that hang`);
  await delay(Math.max(0, startedAt + untilRetriesMs - performance.now()));
  const retrying = await measure('while those are tried again');
  await world.removeWebhooks(hanging);
  const detail = `${alone.events} state changes at 50/s, 3 webhooks each`;
  return [
    { what: 'webhooks: commit → receiver, p50', value: alone.p50Ms, unit: 'ms', detail },
    { what: 'webhooks: commit → receiver, p99', value: alone.p99Ms, unit: 'ms', detail },
    {
      what: 'webhooks: the same p99 with 1,000 queued for endpoints that hang ÷ undisturbed',
      value: queued.p99Ms / alone.p99Ms,
      unit: '',
      detail: `${inMs(queued.p99Ms)} ÷ ${inMs(alone.p99Ms)}; p50 ${inMs(queued.p50Ms)}`,
    },
    {
      what: 'webhooks: the same p99 while those are tried again ÷ undisturbed',
      value: retrying.p99Ms / alone.p99Ms,
      unit: '',
      detail: `${inMs(retrying.p99Ms)} ÷ ${inMs(alone.p99Ms)}; p50 ${inMs(retrying.p50Ms)}`,
    },
  ];
}

async function backlog(say: Say, world: SendingWorld, ids: readonly string[]): Promise<Figure[]> {
  const drained = await drain(world, ids, { runs: backlogRuns, withWrites: true });
  const [first, ...later] = drained.residentMiB;
  const most = Math.max(...later);
  const memory = drained.residentMiB.map((mib) => mib.toFixed(0)).join(' ');
  say(`backlog ${drained.perSecond.toFixed(0)}/s, memory ${memory} MiB, ${load()}`);
  const detail = `${drained.deliveries} deliveries, ${drained.perSecond.toFixed(0)}/s`;
  return [
    {
      what: 'webhooks: most memory during a backlog ÷ at its beginning',
      value: most / (first ?? Number.NaN),
      unit: '',
      detail: `${most.toFixed(0)} ÷ ${(first ?? 0).toFixed(0)} MiB; ${detail}`,
    },
    {
      what: 'webhooks: a small transaction of somebody else meanwhile, p99',
      value: drained.writesP99Ms ?? Number.NaN,
      unit: 'ms',
      detail: 'one every 5 ms',
    },
  ];
}

const load = (): string => `load ${loadavg()[0]?.toFixed(1)}`;
