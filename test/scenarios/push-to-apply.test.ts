import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const planned = ['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING'];

test('a push is planned, confirmed by a person and applied, and everybody is told', async () => {
  const { api, server } = scenario;
  const { stack, push } = await scenario.addStack('confirm');
  const { id, sha } = await push(program(stash('one', '1'), stash('two', '2')), {
    message: 'Add two\n\nBody',
  });
  const waiting = await api.waitForState(id, 'UNCONFIRMED');
  const asking = await scenario.waitForCheckRun(id, 'action_required');
  expect(asking.actions.map(({ identifier }) => identifier)).toEqual(['confirm', 'discard']);
  await api.act(id, 'confirm', { stateVersion: waiting.stateVersion, note: 'looks right' });
  const run = await api.waitForState(id, 'FINISHED');

  expect(run).toMatchObject({ type: 'TRACKED', branch: 'main', triggeredBy: 'ada@example.com' });
  expect(run.delta).toEqual({ added: 3, changed: 0, deleted: 0, resources: 3 });
  expect(await scenario.passedStates(id)).toEqual([
    ...planned,
    'UNCONFIRMED',
    'CONFIRMED',
    'PREPARING_APPLY',
    'APPLYING',
    'FINISHED',
  ]);
  const confirmation = (await api.states(id)).find(({ state }) => state === 'CONFIRMED');
  expect(confirmation).toMatchObject({ actor: 'demo', note: 'looks right' });

  await scenario.expectWebhooksToTell(id);
  expect(scenario.receiver.of(id).at(-1)?.body).toEqual({
    account: 'acme',
    state: 'FINISHED',
    stateVersion: 10,
    timestamp: expect.any(Number),
    run: {
      id,
      branch: 'main',
      commit: {
        authorLogin: 'ada',
        authorName: 'Ada Lovelace',
        hash: sha,
        message: 'Add two\n\nBody',
        timestamp: expect.any(Number),
        url: expect.stringMatching(new RegExp(`/acme/confirm/commit/${sha}$`)),
      },
      createdAt: expect.any(Number),
      delta: { added: 3, changed: 0, deleted: 0, resources: 3 },
      triggeredBy: 'ada@example.com',
      type: 'TRACKED',
    },
    stack: { id: 'confirm', name: 'confirm', description: '', labels: [] },
  });

  expect(await scenario.waitForCheckRun(id, 'success')).toMatchObject({
    name: `slipway/${stack.id}`,
    headSha: sha,
    detailsUrl: `${server.url}/runs/${id}`,
    actions: [],
  });
  expect(scenario.github.checkRuns.filter(({ externalId }) => externalId === id)).toHaveLength(1);
  expect(await api.log(id, 'applying')).toMatch(/\+ 3 created/);
});

test('the commands are those of the specification, the unknown flag of select being tried once', async () => {
  // A server of its own: it remembers of its pulumi that it refuses the flag.
  await using fresh = await startScenario();
  const { push } = await fresh.addStack('commands', { autodeploy: true });
  const initializing = [
    'pulumi login file:///state',
    'pulumi stack select --create --select dev',
    'pulumi stack select --create --stack dev',
  ];
  const rest = [
    'pulumi preview --refresh --diff --show-replacement-steps',
    'pulumi up --refresh --diff --show-replacement-steps',
  ];
  const first = await push(program(stash('one', '1')));
  await fresh.api.waitForState(first.id, 'FINISHED');
  expect(await fresh.commandLines(first.id)).toEqual([...initializing, ...rest]);
  const commands = await fresh.api.commands(first.id);
  expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 1, 0, 0, 0]);
  expect(commands.map(({ phase }) => phase)).toEqual([
    'initializing',
    'initializing',
    'initializing',
    'planning',
    'applying',
  ]);
  expect(await fresh.api.log(first.id, 'initializing')).toContain('unknown flag: --select');

  const second = await push(program(stash('one', '2')));
  await fresh.api.waitForState(second.id, 'FINISHED');
  expect(await fresh.commandLines(second.id)).toEqual([initializing[0], initializing[2], ...rest]);
});

test('with autodeploy a push is applied without anybody', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('autodeploy', { autodeploy: true });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'FINISHED');
  expect(await scenario.passedStates(id)).toEqual([...planned, 'APPLYING', 'FINISHED']);
  await scenario.expectWebhooksToTell(id);
});

test('what changes nothing is finished without an apply', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('unchanged', { autodeploy: true });
  const yaml = program(stash('one', '1'));
  await api.waitForState((await push(yaml)).id, 'FINISHED');

  const { id } = await push(`# only a remark\n${yaml}`);
  const run = await api.waitForState(id, 'FINISHED');
  expect(run.delta).toEqual({ added: 0, changed: 0, deleted: 0, resources: 2 });
  expect(run.note).toBe('nothing to change');
  expect(await scenario.passedStates(id)).toEqual([...planned, 'FINISHED']);
  expect(await scenario.commandLines(id)).not.toContainEqual(expect.stringMatching(/^pulumi up/));
  const check = await scenario.waitForCheckRun(id, 'success');
  expect(check.output?.title).toContain('Nothing to change');
});

test('a push that GitHub delivers again makes no second run', async () => {
  const { api, github } = scenario;
  const { stack, push } = await scenario.addStack('redelivered', { autodeploy: true });
  const { id, deliveryId } = await push(program(stash('one', '1')));
  expect((await github.redeliver(deliveryId)).status).toBe(202);
  await api.waitForState(id, 'FINISHED');
  expect((await github.redeliver(deliveryId)).status).toBe(202);

  // The next push is behind the redelivery in the inbox: once it has its run, the redelivery had its chance.
  const next = await push(program(stash('one', '2')));
  await api.waitForState(next.id, 'FINISHED');
  expect((await api.runsOf(stack)).map((run) => run.id)).toEqual([next.id, id]);
});
