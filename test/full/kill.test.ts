/** `kill -9` of the server and its process group, with a run at each point, and what the next life makes of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from '../../demo/wait.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { expectTold, killGroup, slowOnce, stateFile, timesIn, untilGone, workspacesOf } from './evidence.ts';
import { type KillPoints, stackFile, startKillPoints } from './kill-points.ts';

const planned = ['PREPARING', 'INITIALIZING', 'PLANNING'];
const recoveredWithinMs = 5000;

let world: KillPoints;
let scenario: Scenario;
let readyAtMs = 0;
let pushedLast = '';
/** What each run was when the server was killed. */
const before = new Map<string, number>();
beforeAll(async () => {
  world = await startKillPoints();
  scenario = world.scenario;
  const { api, server } = scenario;
  const found: Record<string, string> = {};
  for (const [name, { runId }] of Object.entries(world.points)) {
    const { state, stateVersion } = await api.run(runId);
    found[name] = state;
    before.set(runId, stateVersion);
  }
  expect(found).toEqual({
    ...{ queued: 'QUEUED', ready: 'READY', preparing: 'PREPARING', initializing: 'INITIALIZING' },
    ...{ planning: 'PLANNING', unconfirmed: 'UNCONFIRMED', confirmed: 'CONFIRMED', applying: 'APPLYING' },
    ...{ creating: 'APPLYING', applied: 'APPLYING', finished: 'FINISHED', performing: 'PERFORMING' },
    ...{ destroying: 'DESTROYING', previewing: 'PLANNING', untold: 'CONFIRMED' },
  });
  const told = scenario.receiver.of(world.points.untold.runId).map(({ state }) => state);
  expect(told).not.toContain('CONFIRMED');

  pushedLast = await world.pushLast();
  const family = await killGroup(scenario);
  await expect(fetch(`${server.url}/readyz`)).rejects.toThrow();
  for (const gate of world.gates) gate.release();
  await server.start();
  readyAtMs = Date.now();
  await untilGone(family);
}, 360_000);
afterAll(() => world?.[Symbol.asyncDispose]());

/** By the times of what happened, not by when it was looked at. In whole seconds, as the API gives them. */
test('what was under way is recovered within five seconds', async () => {
  const { points, stored } = world;
  const { api } = scenario;
  const { preparing, initializing, planning, previewing, ...rest } = points;
  const { applying, creating, applied, performing, destroying } = rest;
  const under = [
    preparing,
    initializing,
    planning,
    previewing,
    applying,
    creating,
    applied,
    performing,
    destroying,
  ];
  const latest = Math.floor(readyAtMs / 1000) + recoveredWithinMs / 1000;
  for (const { runId, stack } of under) {
    const version = before.get(runId) ?? 0;
    const next = async () => (await api.states(runId))[version];
    const recovered = await waitFor(`${stack.id} to move`, next, { timeoutMs: recoveredWithinMs });
    expect(recovered.stateVersion).toBe(version + 1);
    expect(recovered.timestamp, stack.id).toBeLessThanOrEqual(latest);
  }
  const run = await api.waitForRun(stored.stack, pushedLast);
  const [created] = await api.states(run.id);
  expect(created?.timestamp).toBeLessThanOrEqual(latest);
});

test('a delivery that was answered the moment before has its run, and one only', async () => {
  const { api } = scenario;
  const { stack } = world.stored;
  const run = await api.waitForRun(stack, pushedLast);
  await api.waitForState(run.id, 'FINISHED');
  expect(await api.runsOf(stack)).toHaveLength(1);
  await expectTold(scenario, run.id);
});

const restarted = [
  { name: 'preparing', was: 'PREPARING' },
  { name: 'initializing', was: 'INITIALIZING', file: 'beforeInit' },
  { name: 'planning', was: 'PLANNING', file: 'beforePlan' },
  { name: 'previewing', was: 'PLANNING', file: 'beforePlan' },
] as const;

test.for(restarted)(
  'a run that was $was ($name) starts again in a clean workspace',
  async ({ name, was, ...ran }) => {
    const { api } = scenario;
    const { runId, repository } = world.points[name];
    await api.waitForState(runId, 'FINISHED');
    const until = planned.slice(0, planned.indexOf(was) + 1);
    const passed = await scenario.passedStates(runId);
    expect(passed).toEqual(['QUEUED', 'READY', ...until, ...planned, 'APPLYING', 'FINISHED']);
    const again = (await api.states(runId))[before.get(runId) ?? 0];
    expect(again?.note).toBe(`worker lost in ${was}; started again`);
    if ('file' in ran) expect(await timesIn(scenario, repository, ran.file)).toBe(2);
    await scenario.waitForCheckRun(runId, 'success');
    await expectTold(scenario, runId);
  },
);

test('runs that waited for a worker go on by themselves, and what was confirmed is applied once', async () => {
  const { api } = scenario;
  const { ready, confirmed } = world.points;
  await api.waitForState(ready.runId, 'FINISHED');
  await api.waitForState(confirmed.runId, 'FINISHED');
  expect((await scenario.passedStates(confirmed.runId)).slice(5)).toEqual([
    ...['UNCONFIRMED', 'CONFIRMED', 'PREPARING_APPLY', 'APPLYING', 'FINISHED'],
  ]);
  expect(await api.log(confirmed.runId, 'applying')).toContain('kept from planning\nand exported');
  expect(await timesIn(scenario, confirmed.repository, 'applied')).toBe(1);
  await expectTold(scenario, ready.runId);
  await expectTold(scenario, confirmed.runId);
});

test('a plan that waited can be confirmed, and then the run behind it has its turn', async () => {
  const { api } = scenario;
  const { unconfirmed, queued } = world.points;
  const stateVersion = before.get(unconfirmed.runId);
  expect(await api.run(unconfirmed.runId)).toMatchObject({ state: 'UNCONFIRMED', stateVersion });
  expect(await api.run(queued.runId)).toMatchObject({
    state: 'QUEUED',
    blockedBy: { kind: 'run', run: unconfirmed.runId },
  });
  expect(await workspacesOf(scenario)).toContain(unconfirmed.runId);
  await api.act(unconfirmed.runId, 'confirm', { stateVersion });
  await api.waitForState(unconfirmed.runId, 'FINISHED');
  expect(await api.log(unconfirmed.runId, 'applying')).toContain('kept from planning\nand exported');
  await api.waitForState(queued.runId, 'UNCONFIRMED');
  await api.act(queued.runId, 'confirm');
  await api.waitForState(queued.runId, 'FINISHED');
  expect(await timesIn(scenario, queued.repository, 'applied')).toBe(2);
  await expectTold(scenario, unconfirmed.runId);
  await expectTold(scenario, queued.runId);
});

test('a change that was committed and told nobody is told', async () => {
  const { runId } = world.points.untold;
  await scenario.api.waitForState(runId, 'FINISHED');
  await expectTold(scenario, runId);
});

test('a run that was over stays so, and hooks that were cut off are not run again', async () => {
  const { api } = scenario;
  const { runId, repository } = world.points.finished;
  await scenario.waitForCheckRun(runId, 'success');
  expect((await scenario.passedStates(runId)).at(-1)).toBe('FINISHED');
  await expect.poll(() => api.log(runId), patience).toContain('they are not run a second time');
  expect(await timesIn(scenario, repository, 'afterRun')).toBe(1);
  await expectTold(scenario, runId);
});

const interrupted = [
  { name: 'applying', file: 'beforeApply', was: 'APPLYING' },
  { name: 'creating', file: 'beforeApply', was: 'APPLYING' },
  { name: 'applied', file: 'afterApply', was: 'APPLYING' },
  { name: 'performing', file: 'perform', was: 'PERFORMING' },
  { name: 'destroying', file: 'beforeDestroy', was: 'DESTROYING' },
] as const;

test.for(interrupted)(
  'what was $was ($name) is never executed again, and locks the stack',
  async ({ name, file, was }) => {
    const { api } = scenario;
    const { runId, stack, repository, push } = world.points[name];
    const note = `worker lost while ${was.toLowerCase()}; check the real state`;
    expect(await api.run(runId)).toMatchObject({ state: 'FAILED', outcome: 'worker_lost', note });
    expect((await scenario.passedStates(runId)).slice(-2)).toEqual([was, 'FAILED']);
    // after_run hooks were not cut off, they are due.
    if (name === 'applying' || name === 'applied') {
      await expect.poll(() => timesIn(scenario, repository, 'ended'), patience).toBe(1);
    }
    const { json } = await api.expectSuccess('GET', api.stackPath(stack));
    expect(json).toMatchObject({ lock: { run: runId, reason: expect.stringContaining(was) } });
    await scenario.waitForCheckRun(runId, 'failure');

    // Until a person says that all is well, nothing happens, whoever pushes.
    const next = await push(program(stash('one', '1'), stash('more', '2')));
    await expect
      .poll(() => api.run(next.id), patience)
      .toMatchObject({
        state: 'QUEUED',
        blockedBy: { kind: 'lock' },
      });
    expect(await timesIn(scenario, repository, file)).toBe(1);
    await api.expectSuccess('DELETE', `${api.stackPath(stack)}/lock`);
    // A killed pulumi leaves a lock of its own, see below.
    await api.waitForState(next.id, name === 'creating' ? 'FAILED' : 'FINISHED');
    expect(await scenario.passedStates(runId)).toHaveLength((before.get(runId) ?? 0) + 1);
    await expectTold(scenario, runId);
    await expectTold(scenario, next.id);
  },
);

test('a pulumi that died in the middle of a creation leaves its lock, which the task `pulumi cancel` ends', async () => {
  const { api } = scenario;
  const { runId, stack, repository } = world.points.creating;
  expect(await api.log(runId, 'applying')).toMatch(/::one\]/);
  const [behind] = await api.runsOf(stack);
  expect(behind).toMatchObject({ state: 'FAILED', note: expect.stringContaining('`pulumi cancel`') });
  const cancel = await api.startRun(stack, { type: 'TASK', command: 'pulumi cancel' });
  await api.waitForState(cancel.id, 'FINISHED');
  const again = await api.act(behind?.id ?? '', 'retry');
  await api.waitForState(again.id, 'FINISHED');
  const state = await stateFile(scenario, repository, stackFile);
  expect(state).toContain('::one"');
  expect(state).toContain('::more"');
  expect(state).not.toContain('::two"');
});

test('workspaces of runs that are over are gone', async () => {
  await expect.poll(() => workspacesOf(scenario), patience).toEqual([]);
});

test('a run whose planning is lost three times is given up', async () => {
  await using other = await startScenario();
  const { api, server } = other;
  const slow = slowOnce('planned').replace('-gt 1', '-gt 3');
  const { stack, repository, push } = await other.addStack('unlucky', { hooks: { beforePlan: [slow] } });
  const { id } = await push(program(stash('one', '1')));
  for (const times of [1, 2, 3]) {
    await waitFor(
      `planning number ${times}`,
      async () => (await timesIn(other, repository, 'planned')) === times,
      {
        timeoutMs: 60_000,
      },
    );
    await killGroup(other);
    await server.start();
  }
  const run = await api.waitForState(id, 'FAILED');
  expect(run).toMatchObject({ outcome: 'worker_lost', note: 'worker lost in PLANNING 3 times' });
  const { json } = await api.expectSuccess('GET', api.stackPath(stack));
  expect(json).toMatchObject({ lock: null });
  await expectTold(other, id);
  const next = await push(program(stash('one', '2')));
  await api.waitForState(next.id, 'UNCONFIRMED');
});
