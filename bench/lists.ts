/** Lists of the API and the pages that show them, with many stacks and very many runs, in one process. */
import { rmSync } from 'node:fs';
import { openApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createLogger } from '../src/logger.ts';
import { type Benchmark, type Figure, inMs, inSeconds, percentile } from './figure.ts';
import { admin, buildListsWorld } from './lists-world.ts';

const size = { stacks: 1000, runs: 1_000_000 };
const rounds = 200;
const warmUp = 10;
/** Pages of a list that are turned before what is behind them is measured. */
const deepPages = 40;

interface Asked {
  readonly what: string;
  readonly path: string;
  readonly as: 'admin token' | 'token of an account' | 'session';
}

export const lists: Benchmark = {
  name: 'lists',
  about: `lists and their pages at ${size.stacks} stacks and ${size.runs} runs, against GET /healthz`,
  async measure(say) {
    const startedAt = performance.now();
    const dataDir = await buildListsWorld(size);
    try {
      const builtMs = performance.now() - startedAt;
      say(`${size.stacks} stacks and ${size.runs} runs written in ${inSeconds(builtMs)}`);
      return await measureIn(dataDir, say);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

async function measureIn(dataDir: string, say: (line: string) => void): Promise<readonly Figure[]> {
  const config = readConfig({
    DATA_DIR: dataDir,
    SANDBOX: 'none',
    ADMINS: admin.login,
    PATH: process.env['PATH'],
  });
  await using app = await openApp(config, createLogger('silent'));
  async function token(account: string | null): Promise<string> {
    const body = JSON.stringify({ name: 'bench', role: 'admin', ...(account === null ? {} : { account }) });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const request = new Request('http://127.0.0.1:3000/api/v1/tokens', init);
    const answer = await app.fetchAs({ kind: 'operator' }, request);
    return `Bearer ${((await answer.json()) as { token: string }).token}`;
  }
  const headers: Readonly<Record<Asked['as'], Record<string, string>>> = {
    'admin token': { authorization: await token(null) },
    'token of an account': { authorization: await token('globex') },
    session: { cookie: `slipway=${admin.token}` },
  };

  async function get(path: string, as: Asked['as']): Promise<string> {
    const answer = await app.fetch(new Request(`http://127.0.0.1:3000${path}`, { headers: headers[as] }));
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 200)}`);
    return text;
  }

  async function deepCursor(path: string): Promise<string> {
    let cursor = '';
    for (let page = 0; page < deepPages; page += 1) {
      const { nextCursor } = JSON.parse(await get(`${path}&cursor=${cursor}`, 'admin token')) as {
        nextCursor: string | null;
      };
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    return `${path}&cursor=${cursor}`;
  }

  const api = (what: string, path: string, as: Asked['as'] = 'admin token'): Asked => ({ what, path, as });
  const asked: readonly Asked[] = [
    api('stacks', '/api/v1/stacks'),
    api('stacks, 200 of them', '/api/v1/stacks?limit=200'),
    api('stacks by attention', '/api/v1/stacks?sort=attention'),
    api('stacks with q', '/api/v1/stacks?q=service-77&sort=name'),
    api('stacks in a bucket', '/api/v1/stacks?state=attention&sort=changed'),
    api('stacks with a label', '/api/v1/stacks?label=team-7&sort=changed'),
    api('stacks that nothing fits', '/api/v1/stacks?q=nothing-is-called-that'),
    api('stacks of an account', '/api/v1/stacks', 'token of an account'),
    api('stacks, deep', await deepCursor('/api/v1/stacks?limit=20&sort=changed')),
    api('counts of stacks', '/api/v1/stacks/counts'),
    api('runs', '/api/v1/runs'),
    api('runs, 200 of them', '/api/v1/runs?limit=200'),
    api('runs in FAILED', '/api/v1/runs?state=FAILED'),
    api('runs in UNCONFIRMED', '/api/v1/runs?state=UNCONFIRMED'),
    api('runs in a state that none has', '/api/v1/runs?state=DISCARDED'),
    api('DESTROY runs in CANCELED', '/api/v1/runs?type=DESTROY&state=CANCELED'),
    api('runs of a branch', '/api/v1/runs?branch=topic-4711'),
    api('runs of a stack, by type', '/api/v1/runs?stack=service-500&account=globex&type=TASK'),
    api('runs of an account', '/api/v1/runs', 'token of an account'),
    api('runs of an account, rare', '/api/v1/runs?type=TASK&state=CANCELED', 'token of an account'),
    api('runs, deep', await deepCursor('/api/v1/runs?limit=200')),
    api('runs of long ago', `/api/v1/runs?before=${Math.floor(Date.now() / 1000) - 2 * 365 * 86_400}`),
    api('one stack’s runs', '/api/v1/stacks/acme/service-501/runs'),
    api('one stack’s runs in a state', '/api/v1/stacks/acme/service-501/runs?state=CANCELED'),
    api('page of all stacks', '/', 'session'),
    api('page of failed stacks', '/?state=failed', 'session'),
    api('page of all runs', '/runs', 'session'),
    api('page of failed runs', '/runs?state=FAILED', 'session'),
    api('page of a stack', '/stacks/acme/service-501', 'session'),
  ];

  const base = await times(() => get('/healthz', 'admin token'));
  const baseMs = percentile(base.wall, 0.5);
  say(`GET /healthz: ${inMs(baseMs)}`);
  const figures: Figure[] = [];
  for (const { what, path, as } of asked) {
    const { wall, processor } = await times(() => get(path, as));
    const [p50, p99] = [percentile(wall, 0.5), percentile(wall, 0.99)];
    const busy = `${inMs(percentile(processor, 0.5))} and ${inMs(percentile(processor, 0.99))} of a processor`;
    say(`${what}: p50 ${inMs(p50)}, p99 ${inMs(p99)}; ${busy}`);
    figures.push({ what: `${what}: p99`, value: p99, unit: 'ms', detail: `p50 ${inMs(p50)}; ${busy}` });
    figures.push({
      what: `${what} ÷ GET /healthz`,
      value: p50 / baseMs,
      unit: '',
      detail: `${inMs(p50)} ÷ ${inMs(baseMs)}, medians`,
    });
  }
  return figures;
}

/**
 * Milliseconds of each round, one after the other: by the clock, and of a processor, which others on the machine do not
 * lengthen.
 */
async function times(work: () => Promise<unknown>) {
  const [wall, processor]: [number[], number[]] = [[], []];
  for (let round = -warmUp; round < rounds; round += 1) {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    await work();
    const [ms, { user, system }] = [performance.now() - startedAt, process.cpuUsage(before)];
    if (round < 0) continue;
    wall.push(ms);
    processor.push((user + system) / 1000);
  }
  return { wall, processor };
}
