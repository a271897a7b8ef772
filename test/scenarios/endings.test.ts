import { afterAll, beforeAll, expect, test } from 'vitest';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test('a program that fails is a failed run, with the reason on run, check and log', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('broken');
  const { id } = await push(program(stash('one', `\${nowhere.at.all}`)));
  const run = await api.waitForState(id, 'FAILED');

  expect(run).toMatchObject({ outcome: 'tool_failed', note: expect.stringContaining('nowhere') });
  expect(run).not.toHaveProperty('delta');
  expect(await scenario.passedStates(id)).toEqual([
    'QUEUED',
    'READY',
    'PREPARING',
    'INITIALIZING',
    'PLANNING',
    'FAILED',
  ]);
  const check = await scenario.waitForCheckRun(id, 'failure');
  expect(check.output?.summary).toContain('nowhere');
  expect(await api.log(id, 'planning')).toContain('nowhere');
  await scenario.expectWebhooksToTell(id);
});

test('the stack goes on after a failure', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('recovers', { autodeploy: true });
  await api.waitForState((await push('not: [yaml')).id, 'FAILED');
  await api.waitForState((await push(program(stash('one', '1')))).id, 'FINISHED');
});

test('a discarded plan changes nothing, and cannot be confirmed any more', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('discarded');
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  const run = await api.act(id, 'discard', { note: 'not today' });
  expect(run).toMatchObject({ state: 'DISCARDED', note: 'not today' });

  const late = await api.request('POST', `/api/v1/runs/${id}/confirm`, {});
  expect(late).toMatchObject({
    status: 409,
    json: { code: 'state-conflict', state: 'DISCARDED', stateVersion: 7 },
  });
  await scenario.waitForCheckRun(id, 'cancelled');
  await scenario.expectWebhooksToTell(id);
  expect(await scenario.commandLines(id)).not.toContainEqual(expect.stringMatching(/^pulumi up/));
});

test('a run is stopped while it plans, at once, and the next one takes its place', async () => {
  const { api } = scenario;
  const hook = 'echo it "has begun"; sleep 120';
  const { stack, push } = await scenario.addStack('stopped', { hooks: { beforePlan: [hook] } });
  const { id } = await push(program(stash('one', '1')));
  await expect.poll(() => api.log(id, 'planning'), patience).toContain('it has begun');
  const stopped = await api.act(id, 'stop', { note: 'too slow' });
  expect(stopped).toMatchObject({ state: 'STOPPED', note: 'too slow' });

  // A command is written down when its processes are gone.
  await expect.poll(() => scenario.commandLines(id), patience).toContain(`bash -c ${hook}`);
  const [sleep] = (await api.commands(id)).slice(-1);
  expect(sleep?.durationMs).toBeLessThan(30_000);
  expect(sleep?.exitCode).not.toBe(0);

  await api.changeStack(stack, { hooks: { beforePlan: [] }, autodeploy: true });
  const next = await push(program(stash('one', '2')));
  await api.waitForState(next.id, 'FINISHED');
  expect((await scenario.passedStates(id)).at(-1)).toBe('STOPPED');
  await scenario.waitForCheckRun(id, 'cancelled');
  await scenario.expectWebhooksToTell(id);
});

test('a confirmation of what somebody else has decided meanwhile is refused', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('raced');
  const { id } = await push(program(stash('one', '1')));
  const { stateVersion } = await api.waitForState(id, 'UNCONFIRMED');
  const both = await Promise.all(
    (['confirm', 'discard'] as const).map((verb) =>
      api.request('POST', `/api/v1/runs/${id}/${verb}`, { stateVersion }),
    ),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  await api.waitForState(id, both[0]?.status === 200 ? 'FINISHED' : 'DISCARDED');
});
