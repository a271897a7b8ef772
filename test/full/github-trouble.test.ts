import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

const slipway = fileURLToPath(new URL('../../bin/slipway.js', import.meta.url));
const delivery = z.looseObject({ state: z.string(), note: z.string() });

/** `slipway inbox ...` on the data directory, or on the server from afar. */
async function inbox(scenario: Scenario, where: 'here' | 'remote', ...args: string[]) {
  const { dataDir, dir, server, token } = scenario;
  const remote = { SLIPWAY_URL: server.url, SLIPWAY_TOKEN: token };
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, DATA_DIR: dataDir };
  const { stdout } = await execa(process.execPath, [slipway, 'inbox', ...args, '--json'], {
    cwd: dir,
    env: where === 'here' ? env : { ...env, ...remote },
    extendEnv: false,
    timeout: 30_000,
  });
  return JSON.parse(stdout);
}

/** By the API: a process for each look would take its time. */
async function settledNote({ server, token }: Scenario, id: string): Promise<string> {
  const look = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api/v1/inbox/${id}`, { headers });
    return delivery.parse(await answer.json());
  };
  await expect.poll(async () => (await look()).state, patience).toBe('done');
  return (await look()).note;
}

test('a push is replayed by a server that starts, and by one that runs, and makes no second run', async () => {
  await using scenario = await startScenario();
  const { api, server } = scenario;
  const { stack, push } = await scenario.addStack('replayed', { hooks: { beforePlan: ['sleep 3'] } });
  const { id, deliveryId } = await push(program(stash('one', '1')));
  expect(await settledNote(scenario, deliveryId)).toBe(`replayed: TRACKED run ${id}`);
  await api.waitForState(id, 'PLANNING');
  await server.kill9();

  const replay = await inbox(scenario, 'here', 'replay', deliveryId);
  expect(replay.items).toMatchObject([{ id: deliveryId, state: 'pending', attempts: 0 }]);
  const before = (await server.log()).length;
  await server.start();

  const again = 'replayed: there is a run for this commit already';
  expect(await settledNote(scenario, deliveryId)).toBe(again);
  // What a former life left is settled first; only then are deliveries handled, and new ones taken.
  const log = (await server.log()).slice(before);
  const at = (words: string) => log.indexOf(words);
  expect(at('a worker was lost')).toBeGreaterThan(0);
  expect(at('a delivery was handled')).toBeGreaterThan(at('a worker was lost'));
  expect(at('"msg":"listening"')).toBeGreaterThan(at('a worker was lost'));

  for (const where of ['remote', 'here'] as const) {
    await inbox(scenario, where, 'replay', deliveryId);
    expect(await settledNote(scenario, deliveryId)).toBe(again);
  }
  await api.waitForState(id, 'UNCONFIRMED');
  expect(await api.runsOf(stack)).toHaveLength(1);
  const list = await inbox(scenario, 'remote', 'list', '--event', 'push');
  expect(list.items).toMatchObject([{ id: deliveryId }]);
});

test('a GitHub that fails and limits us holds up no run, and shows the last state afterwards', async () => {
  await using scenario = await startScenario();
  const { api, github } = scenario;
  const { push } = await scenario.addStack('unheard', { autodeploy: true });
  const before = await push(program(stash('one', '1')));
  const startedMs = performance.now();
  await api.waitForState(before.id, 'FINISHED');
  const usualMs = performance.now() - startedMs;
  await scenario.waitForCheckRun(before.id, 'success');

  const pathPattern = /\/check-runs(\/\d+)?$/;
  github.failNext({ pathPattern, status: 502, times: 3 });
  // Performed, and we never hear of it: the one time that a check run could be made twice.
  github.failNext({ method: 'POST', pathPattern, status: 0, dropAnswer: true });
  github.failNext({ pathPattern, status: 403, times: 1000, headers: { 'retry-after': '2' } });
  const { id } = await push(program(stash('one', '2')));
  const troubledMs = performance.now();
  const run = await api.waitForState(id, 'FINISHED');

  // GitHub answers nothing to this moment; to wait for it once in each state would take longer than this allows.
  expect(performance.now() - troubledMs).toBeLessThan(2 * usualMs + 5000);
  const shown = () => github.checkRuns.filter(({ externalId }) => externalId === id);
  expect(shown().filter(({ conclusion }) => conclusion !== null)).toEqual([]);
  github.clearFaults();
  await scenario.waitForCheckRun(id, 'success');
  expect(shown()).toHaveLength(1);
  expect(shown()[0]?.output?.title).toBe('Applied: +0 ~1 -0');
  expect(run.outcome).toBeUndefined();
  await scenario.expectWebhooksToTell(id);
});
