/** More than 100 MB of output through the whole server, which must not hold it. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';

const mebibyte = 1024 * 1024;
const ofEachPhase = 55 * mebibyte;
/** Some chunks for each stream, and what the garbage collector has not come to yet; far less than the output. */
const allowedGrowth = 120 * mebibyte;

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const residentBytes = (): number => {
  const status = readFileSync(`/proc/${scenario.server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
};

/** The most that the server held at once while `work` went on. */
async function peakOf<T>(work: () => Promise<T>): Promise<{ result: T; peak: number }> {
  const stop = new AbortController();
  let peak = residentBytes();
  const watching = (async () => {
    while (!stop.signal.aborted) {
      peak = Math.max(peak, residentBytes());
      await delay(20, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  const result = await work();
  stop.abort();
  await watching;
  return { result, peak };
}

async function open(path: string): Promise<{ response: Response; bytes: AsyncIterable<Uint8Array> }> {
  const { server, token } = scenario;
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${server.url}/api/v1/runs/${path}`, { headers });
  expect(response.status).toBe(200);
  return { response, bytes: response.body as unknown as AsyncIterable<Uint8Array> };
}

async function count(bytes: AsyncIterable<Uint8Array>, firstPauseMs = 0): Promise<number> {
  let total = 0;
  for await (const chunk of bytes) {
    if (total === 0) await delay(firstPauseMs);
    total += chunk.length;
  }
  return total;
}

test('a run may write more than 100 MB, and it can be read in every way, with flat memory', async () => {
  const { api } = scenario;
  const flood = `yes "a line of output that is about as long as lines are" | head -c ${ofEachPhase}`;
  const hooks = { beforeInit: [flood], beforePlan: [flood] };
  const small = await scenario.addStack('small');
  await api.waitForState((await small.push(program(stash('one', 'first')))).id, 'UNCONFIRMED');
  const before = residentBytes();

  const large = await scenario.addStack('large', { hooks });
  const written = await peakOf(async () => {
    const { id } = await large.push(program(stash('one', 'first')));
    await api.waitForState(id, 'UNCONFIRMED', 150_000);
    return id;
  });
  const id = written.result;
  expect(written.peak - before).toBeLessThan(allowedGrowth);

  // Whole, by a reader that is slow at first.
  const whole = await peakOf(async () => {
    const { response, bytes } = await open(`${id}/logs`);
    return { total: await count(bytes, 3000), next: Number(response.headers.get('x-next-offset')) };
  });
  expect(whole.result.total).toBeGreaterThan(2 * ofEachPhase);
  expect(whole.result.total).toBe(whole.result.next);
  expect(whole.peak - before).toBeLessThan(allowedGrowth);

  // The end of one phase, by offset: a few lines cost what a few lines cost.
  const { bytes: end, response } = await open(`${id}/logs?phase=planning&offset=${ofEachPhase}`);
  const rest = await count(end);
  expect(rest).toBe(Number(response.headers.get('x-next-offset')) - ofEachPhase);
  expect(rest).toBeLessThan(100_000);

  // Followed as events by several at once.
  await api.act(id, 'discard');
  const followed = await peakOf(() =>
    Promise.all([0, 0, 2000].map(async (pauseMs) => count((await open(`${id}/logs/stream`)).bytes, pauseMs))),
  );
  for (const total of followed.result) expect(total).toBeGreaterThan(whole.result.total);
  expect(followed.peak - before).toBeLessThan(allowedGrowth);
}, 300_000);
