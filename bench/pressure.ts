/**
 * What hostile runs cost everybody else: how late the server's thread is while bombs go off in two runs at once, and while
 * two well-behaved runs of the same length go on, in turns.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { type Benchmark, type Figure, inMs, median } from './figure.ts';
import { passphrase } from './run-samples.ts';

const atOnce = 2;
const rounds = 3;
const seconds = 8;

/** Each ends by itself, should no limit end it. */
const bombs: Record<string, string> = {
  nothing: `sleep ${seconds}`,
  'a fork bomb': `bomb() { sleep ${seconds} & bomb & bomb & }; bomb 2>/dev/null; sleep ${seconds}`,
  'a log bomb': `timeout ${seconds} yes "$(head -c 200 /dev/zero | tr '\\0' x)"`,
  'a disk bomb': `timeout ${seconds} sh -c 'n=0; while :; do n=$((n + 1)); head -c 65536 /dev/zero > "$HOME/$n"; done'`,
  'a memory bomb': `timeout ${seconds} python3 -c 'held = []\nwhile True: held.append(bytearray(1 << 24))'`,
};

export const pressure: Benchmark = {
  name: 'pressure',
  about: `delay of the server's event loop under bombs in ${atOnce} runs, against ${atOnce} runs that sleep`,
  async measure(say) {
    const settings = { LOG_LEVEL: 'warn', WORKERS: String(atOnce), METRICS_ANONYMOUS: 'true' };
    await using installation = await startInstallation({ settings });
    const stacks = await Promise.all(
      Array.from({ length: atOnce }, (_, index) => addStack(installation, `pressure-${index}`)),
    );
    const seen = new Map<string, Delay[]>(Object.keys(bombs).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, bomb] of Object.entries(bombs)) {
        const delay = await delayDuring(installation, () =>
          Promise.all(stacks.map((stack) => explode(installation, stack, bomb))),
        );
        seen.get(name)?.push(delay);
        say(`${name}: p99 ${inMs(delay.p99Ms)}, longest ${inMs(delay.maxMs)}`);
      }
    }
    const of = (name: string, key: keyof Delay) => median((seen.get(name) ?? []).map((delay) => delay[key]));
    return Object.keys(bombs).flatMap((name): Figure[] => {
      const detail = `p99 ${inMs(of(name, 'p99Ms'))}, longest ${inMs(of(name, 'maxMs'))}; medians of ${rounds}`;
      if (name === 'nothing')
        return [
          { what: 'event loop: p99 delay, two quiet runs', value: of(name, 'p99Ms'), unit: 'ms', detail },
        ];
      const value = of(name, 'p99Ms') / of('nothing', 'p99Ms');
      return [
        { what: `event loop: p99 delay under ${name} twice / two quiet runs`, value, unit: '', detail },
      ];
    });
  },
};

interface Delay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

type Stack = Awaited<ReturnType<Installation['api']['createStack']>>;

/** The bomb goes off before any tool starts, so the program never matters. */
async function addStack({ api, addRepository }: Installation, name: string): Promise<Stack> {
  const repository = await addRepository(name, { 'Pulumi.yaml': 'name: bench\nruntime: yaml\n' });
  const stack = await api.createStack({
    name,
    repository: repository.fullName,
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'bench' } },
  });
  await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase });
  return stack;
}

async function explode({ api }: Installation, stack: Stack, bomb: string): Promise<void> {
  const { id } = await api.startRun(stack, { type: 'TASK', command: bomb });
  const { outcome, note } = await api.waitForState(id, ['FINISHED', 'FAILED'], 120_000);
  const wasLit = (await api.commands(id)).some(({ phase }) => phase === 'performing');
  if (!wasLit) throw new Error(`the bomb did not go off: ${outcome}, ${note}`);
}

/**
 * Asked for each second, because the server tells what came since it was asked: the p99 of a second in the middle of the
 * order, and the longest delay of all.
 */
async function delayDuring({ server }: Installation, work: () => Promise<unknown>): Promise<Delay> {
  await lag(server.url);
  const delays: Delay[] = [];
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([sleep(1000), working]);
    delays.push(await lag(server.url));
  }
  await working;
  return {
    p99Ms: median(delays.map(({ p99Ms }) => p99Ms)),
    maxMs: Math.max(...delays.map(({ maxMs }) => maxMs)),
  };
}

async function lag(url: string): Promise<Delay> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const inText = (which: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${which}_seconds (\\S+)$`, 'm').exec(text)?.[1]) * 1000;
  return { p99Ms: inText('p99'), maxMs: inText('max') };
}
