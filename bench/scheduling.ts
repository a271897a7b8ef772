/** One push that concerns many stacks: how long until each has its run and may start, against few. */
import { z } from 'zod';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { waitFor } from '../demo/wait.ts';
import { type Benchmark, inMs } from './figure.ts';

const many = 1000;
const few = 10;
const scheduledWithinMs = 300_000;

export const scheduling: Benchmark = {
  name: 'scheduling',
  about: `a push that concerns ${many} stacks: until every run is READY, for each run, against ${few} stacks`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn', WORKERS: '1' } });
    const release = await occupyWorker(installation);
    const ofFew = await schedule(installation, few);
    say(`${few} stacks: ${inMs(ofFew)}`);
    const ofMany = await schedule(installation, many);
    say(`${many} stacks: ${inMs(ofMany)}`);
    await release();
    const [each, eachOfFew] = [ofMany / many, ofFew / few];
    return [
      {
        what: `push → ${many} runs READY`,
        value: ofMany,
        unit: 'ms',
        detail: `${inMs(each)} for each run: QUEUED, READY, two check run wishes, a job`,
      },
      {
        what: `scheduling, for each run: ${many} stacks ÷ ${few} stacks`,
        value: each / eachOfFew,
        unit: '',
        detail: `${inMs(each)} ÷ ${inMs(eachOfFew)}`,
      },
    ];
  },
};

const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };

/** Nothing but scheduling shall use the machine: the only worker waits in a hook until it is released. */
async function occupyWorker({ api, addRepository }: Installation): Promise<() => Promise<void>> {
  const repository = await addRepository('busy', { 'Pulumi.yaml': 'name: busy\nruntime: yaml\n' });
  const hooks = { beforeInit: ['sleep 600'] };
  const stack = await api.createStack({ name: 'busy', repository: repository.fullName, vendor, hooks });
  await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: 'passphrase of the benchmark' });
  const { id } = await api.startRun(stack, { type: 'PROPOSED' });
  await waitFor(
    'the hook',
    async () => ((await api.log(id, 'initializing')).includes('$ sleep 600') ? true : null),
    { timeoutMs: 60_000 },
  );
  return async () => {
    await api.act(id, 'stop');
  };
}

/** Milliseconds from the push to the last READY, as the feed tells it. */
async function schedule({ api, github, addRepository }: Installation, count: number): Promise<number> {
  const repository = await addRepository(`stacks-${count}`, { 'README.md': 'hello\n' });
  for (let index = 0; index < count; index += 1) {
    await api.createStack({ name: `s-${count}-${index}`, repository: repository.fullName, vendor });
  }
  const { sha, deliveryId } = await github.commitAndPush(repository, {
    branch: 'main',
    message: 'All',
    files: { 'README.md': 'hello again\n' },
  });
  const sentAtMs = github.deliveries.find(({ guid }) => guid === deliveryId)?.answers[0]?.atMs ?? Number.NaN;
  let ready = 0;
  let cursor = '';
  await waitFor(
    'every run to be READY',
    async () => {
      // By the feed: asking for a thousand runs again and again would be what is measured.
      const { json } = await api.expectSuccess('GET', `/api/v1/events?limit=200&after=${cursor}`);
      const { items } = feedPage.parse(json);
      cursor = items.at(-1)?.cursor ?? cursor;
      ready += items.filter(
        ({ payload: { state, run } }) => state === 'READY' && run.commit.hash === sha,
      ).length;
      return ready === count ? true : null;
    },
    { timeoutMs: scheduledWithinMs, intervalMs: 5 },
  );
  return performance.timeOrigin + performance.now() - sentAtMs;
}

const feedPage = z.object({
  items: z.array(
    z.object({
      cursor: z.string(),
      payload: z.object({ state: z.string(), run: z.object({ commit: z.object({ hash: z.string() }) }) }),
    }),
  ),
});
