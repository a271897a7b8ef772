/** SIGTERM in the middle of everything: clean, within bounds, and nothing lost. A second one is like a crash. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { waitFor } from '../../demo/wait.ts';
import { program, type Scenario, type ScenarioStack, startScenario, stash } from '../support/scenario.ts';
import { expectTold, familyOf, slowOnce, timesIn, untilGone } from './evidence.ts';
import { startGate } from './gate.ts';

const simple = program(stash('one', '1'));
const patient = { timeoutMs: 120_000 };
/** First halves get 20 s; the rest is what a busy machine takes. */
const stopsWithinMs = 40_000;

async function started(
  scenario: Scenario,
  name: string,
  hooks: Record<string, string[]>,
  webhooksTo?: string,
) {
  const settings = { autodeploy: name !== 'waiting', hooks };
  const added = await scenario.addStack(name, settings, webhooksTo === undefined ? {} : { webhooksTo });
  return { ...added, runId: (await added.push(simple)).id };
}

const ran = (scenario: Scenario, of: ScenarioStack, file: string) =>
  waitFor(
    `${file} of ${of.stack.id}`,
    async () => (await timesIn(scenario, of.repository, file)) === 1,
    patient,
  );

/** Pushes until nobody answers; gives what was answered with 202. */
async function pushOn({ github }: Scenario, { repository }: ScenarioStack): Promise<readonly string[]> {
  const accepted: string[] = [];
  for (let n = 0; n < 200; n += 1) {
    const files = { 'Pulumi.yaml': program(stash('one', `value-${n}`)) };
    const commit = { branch: 'main', message: `Push ${n}`, files, pusher: 'ada' };
    const { sha, status } = await github.commitAndPush(repository, commit);
    if (status !== 202) return accepted;
    accepted.push(sha);
    await delay(50);
  }
  throw new Error('the server never stopped listening');
}

test('under load it ends with 0, waits for an apply, hands a preview back, and loses nothing', {
  timeout: 360_000,
}, async () => {
  await using gate = await startGate();
  await using scenario = await startScenario({ settings: { WORKERS: '3' } });
  const { api, server } = scenario;
  gate.openTo(scenario.receiver.url);
  gate.hold('/waiting');

  const waiting = await started(scenario, 'waiting', {}, `http://${gate.host}`);
  await api.waitForState(waiting.runId, 'UNCONFIRMED', patient.timeoutMs);
  const behind = await waiting.push(program(stash('one', '2')));
  const go = 'until [ -e /state/go ]; do sleep 0.1; done';
  const applying = await started(scenario, 'applying', {
    beforeApply: ['echo ran >> /state/beforeApply', go],
  });
  await ran(scenario, applying, 'beforeApply');
  const planning = await started(scenario, 'planning', { beforePlan: [slowOnce('beforePlan')] });
  await ran(scenario, planning, 'beforePlan');
  const initializing = await started(scenario, 'initializing', { beforeInit: [slowOnce('beforeInit')] });
  await ran(scenario, initializing, 'beforeInit');
  const ready = await started(scenario, 'ready', {});
  await api.waitForState(ready.runId, 'READY');
  const pushed = await scenario.addStack('pushed', { autodeploy: true });

  const pushing = pushOn(scenario, pushed);
  const family = familyOf(server.pid);
  const from = performance.now();
  const stopping = server.stop();
  const accepted = await pushing;
  // Long after the listener closed, when everything but the apply is over.
  const others = () => familyOf(server.pid).filter(({ command }) => command.includes('sleep 600'));
  await waitFor('the previews to be given up', () => others().length === 0, { timeoutMs: stopsWithinMs });
  expect(performance.now() - from).toBeGreaterThan(15_000);
  await letGo(scenario, applying);

  expect(await stopping).toBe(0);
  expect(performance.now() - from).toBeLessThan(stopsWithinMs);
  await untilGone(family);
  gate.release();
  await server.start();

  const notes = async (runId: string) => (await api.states(runId)).map(({ note }) => note);
  for (const { runId } of [planning, initializing]) {
    await api.waitForState(runId, 'FINISHED', patient.timeoutMs);
    expect((await notes(runId)).filter((note) => note === 'the server stopped; started again')).toHaveLength(
      1,
    );
  }
  // Nothing was lost, so nothing began again but what was handed back.
  expect((await scenario.passedStates(applying.runId)).slice(-2)).toEqual(['APPLYING', 'FINISHED']);
  expect(await timesIn(scenario, applying.repository, 'beforeApply')).toBe(1);
  await api.waitForState(ready.runId, 'FINISHED', patient.timeoutMs);
  await api.act(waiting.runId, 'confirm');
  await api.waitForState(waiting.runId, 'FINISHED', patient.timeoutMs);
  await api.waitForState(behind.id, 'UNCONFIRMED', patient.timeoutMs);
  for (const sha of accepted) {
    const run = await api.waitForRun(pushed.stack, sha);
    await api.waitForState(run.id, 'FINISHED', patient.timeoutMs);
    await expectTold(scenario, run.id);
  }
  for (const { runId } of [applying, planning, initializing, ready]) await expectTold(scenario, runId);
  // Its receiver let attempts time out for as long as all that took: the next is due by the schedule.
  await expectTold(scenario, waiting.runId, 180_000);
});

async function letGo({ dataDir }: Scenario, { repository }: ScenarioStack): Promise<void> {
  await writeFile(join(dataDir, 'state', String(repository.id), '_', 'go'), '');
}

test('a second one ends it at once, and the next life goes by the rules for crashes', {
  timeout: 240_000,
}, async () => {
  await using scenario = await startScenario();
  const { api, server } = scenario;
  const applying = await started(scenario, 'applying', { beforeApply: [slowOnce('beforeApply')] });
  await ran(scenario, applying, 'beforeApply');
  const family = familyOf(server.pid);

  const stopping = server.stop();
  const isDeaf = () =>
    fetch(`${server.url}/healthz`).then(
      () => false,
      () => true,
    );
  await waitFor('the first to be heard', isDeaf, patient);
  const from = performance.now();
  process.kill(server.pid, 'SIGTERM');
  expect(await stopping).toBe(1);
  expect(performance.now() - from).toBeLessThan(5000);
  await untilGone(family);

  await server.start();
  expect(await api.waitForState(applying.runId, 'FAILED')).toMatchObject({
    ...{ outcome: 'worker_lost', note: 'worker lost while applying; check the real state' },
  });
  const { json } = await api.expectSuccess('GET', api.stackPath(applying.stack));
  expect(json).toMatchObject({ lock: { run: applying.runId } });
  expect(await timesIn(scenario, applying.repository, 'beforeApply')).toBe(1);
  await expectTold(scenario, applying.runId);
});
