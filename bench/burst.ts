/** Many pushes at once: how long each waits for its 202, and whether every one of them is handled. */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { z } from 'zod';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { waitFor } from '../demo/wait.ts';
import { type Benchmark, inMs, inSeconds, percentile } from './figure.ts';

const pushes = 2000;
const connections = 32;
const handledWithinMs = 300_000;

const pushJson = z.looseObject({ head_commit: z.looseObject({}) });

export const burst: Benchmark = {
  name: 'burst',
  about: `${pushes} pushes on ${connections} connections: push to 202, p50 and p99, and none lost`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const { api, github, githubSecret, server } = installation;
    const repository = await installation.addRepository('burst', { 'README.md': 'hello\n' });
    await api.createStack({
      name: 'burst',
      repository: repository.fullName,
      // Not concerned: what is measured is the intake and the handling, not the runs.
      projectRoot: 'elsewhere',
      vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    });
    await github.commitAndPush(repository, { branch: 'main', message: 'One', files: { a: '1' } });
    const template = pushJson.parse(JSON.parse(github.deliveries.at(-1)?.body ?? ''));

    /** The same push with commits of its own, each the next of the one before. */
    const bodies = Array.from({ length: pushes }, (_, index) => {
      const [before, after] = [commitNumber(index), commitNumber(index + 1)];
      const head = { ...template.head_commit, id: after };
      return JSON.stringify({ ...template, before, after, head_commit: head, commits: [head] });
    });
    const ids = bodies.map(() => randomUUID());
    await using pool = disposable(new Pool(server.url, { connections }));
    const startedAt = performance.now();
    const times = await Promise.all(
      bodies.map(async (body, index) => {
        const sentAt = performance.now();
        const answer = await pool.value.request({
          method: 'POST',
          path: '/api/github/webhooks',
          body,
          headers: {
            'content-type': 'application/json',
            'x-github-event': 'push',
            'x-github-delivery': ids[index] ?? '',
            'x-hub-signature-256': `sha256=${createHmac('sha256', githubSecret).update(body).digest('hex')}`,
          },
        });
        await answer.body.dump();
        if (answer.statusCode !== 202) throw new Error(`a push was answered with ${answer.statusCode}`);
        return performance.now() - sentAt;
      }),
    );
    const answeredMs = performance.now() - startedAt;
    const handled = await waitFor(
      'every push to be handled',
      async () => {
        const done = await settledDeliveries(installation);
        return ids.every((id) => done.has(id)) ? done : null;
      },
      { timeoutMs: handledWithinMs, intervalMs: 250 },
    );
    const lost = ids.filter((id) => !handled.has(id)).length;
    const handledMs = performance.now() - startedAt;
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    say(
      `${pushes} answered in ${inSeconds(answeredMs)}, all handled after ${inSeconds(handledMs)}, ${lost} lost`,
    );
    const detail = `${pushes} sent at once on ${connections} connections, from the moment of sending`;
    return [
      { what: 'burst: push → 202, p50', value: p50, unit: 'ms', detail },
      { what: 'burst: push → 202, p99', value: p99, unit: 'ms', detail },
      {
        what: 'burst: all pushes handled ÷ all pushes answered',
        value: handledMs / answeredMs,
        unit: '',
        detail: `${inMs(handledMs)} ÷ ${inMs(answeredMs)}; ${lost} of ${pushes} lost`,
      },
    ];
  },
};

const commitNumber = (index: number): string => createHash('sha1').update(`commit ${index}`).digest('hex');

const inboxPage = z.object({
  items: z.array(z.object({ id: z.string() })),
  nextCursor: z.string().nullable(),
});

/** Ids of the deliveries that were handled, all of them. */
async function settledDeliveries({ api }: Installation): Promise<ReadonlySet<string>> {
  const { json } = await api.expectSuccess('GET', '/api/v1/inbox?state=pending&limit=1');
  if (inboxPage.parse(json).items.length > 0) return new Set();
  const found = new Set<string>();
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await api.expectSuccess('GET', `/api/v1/inbox?state=done&limit=200${query}`);
    const page: z.output<typeof inboxPage> = inboxPage.parse(answer.json);
    for (const { id } of page.items) found.add(id);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

function disposable(pool: Pool) {
  return { value: pool, [Symbol.asyncDispose]: () => pool.close() };
}
