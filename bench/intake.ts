/** How long GitHub waits for its answer to a push, against the least that the same server can answer. */
import { createHmac, randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { startInstallation } from '../demo/installation.ts';
import { type Benchmark, inMs, percentile } from './figure.ts';

const pushes = 500;
const rounds = 10;
/** At the start of each block, and not counted: what the block before left to do in the background. */
const warmUps = 30;

export const intake: Benchmark = {
  name: 'intake',
  about: `push to 202, p50 and p99 of ${pushes}, against GET /healthz`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const { api, github, githubSecret, server } = installation;
    const repository = await installation.addRepository('intake', { 'README.md': 'hello\n' });
    // A stack that the push does not concern: what is measured is the intake, not the runs.
    await api.createStack({
      name: 'intake',
      repository: repository.fullName,
      projectRoot: 'elsewhere',
      vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    });
    const files = { 'README.md': 'hello again\n' };
    await github.commitAndPush(repository, { branch: 'main', message: 'Say more', files });
    const body = github.deliveries.at(-1)?.body ?? '';
    const signature = `sha256=${createHmac('sha256', githubSecret).update(body).digest('hex')}`;

    await using pool = disposable(new Pool(server.url, { connections: 1 }));
    const push = () => ({
      method: 'POST' as const,
      path: '/api/github/webhooks',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': signature,
      },
    });
    const look = () => ({ method: 'GET' as const, path: '/healthz' });

    async function time(
      request: ReturnType<typeof push> | ReturnType<typeof look>,
      status: number,
    ): Promise<number> {
      const startedAt = performance.now();
      const answer = await pool.value.request(request);
      await answer.body.dump();
      if (answer.statusCode !== status) throw new Error(`${request.path} answered ${answer.statusCode}`);
      return performance.now() - startedAt;
    }
    async function block(request: typeof push | typeof look, status: number): Promise<number[]> {
      for (let count = 0; count < warmUps; count += 1) await time(request(), status);
      const times: number[] = [];
      for (let count = 0; count < pushes / rounds; count += 1) times.push(await time(request(), status));
      return times;
    }
    const [pushMs, lookMs]: [number[], number[]] = [[], []];
    // Taken in turns, so that whatever else the machine does meets both.
    for (let round = 0; round < rounds; round += 1) {
      pushMs.push(...(await block(push, 202)));
      lookMs.push(...(await block(look, 200)));
    }
    const [p50, p99] = [percentile(pushMs, 0.5), percentile(pushMs, 0.99)];
    const base = percentile(lookMs, 0.5);
    say(`push ${inMs(p50)} p50, ${inMs(p99)} p99; GET /healthz ${inMs(base)} p50`);
    const detail = `${pushes} pushes of ${body.length} bytes on one connection`;
    return [
      { what: 'push → 202, p50', value: p50, unit: 'ms', detail },
      { what: 'push → 202, p99', value: p99, unit: 'ms', detail },
      {
        what: 'push → 202 ÷ GET /healthz, p50',
        value: p50 / base,
        unit: '',
        detail: `${inMs(p50)} ÷ ${inMs(base)}`,
      },
    ];
  },
};

function disposable(pool: Pool) {
  return { value: pool, [Symbol.asyncDispose]: () => pool.close() };
}
