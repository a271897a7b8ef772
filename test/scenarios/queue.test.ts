import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test('two pushes to a stack run one after the other, from first to last state', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('serial');
  const first = await push(program(stash('one', '1')));
  const second = await push(program(stash('one', '2')));
  const waiting = await api.waitForState(first.id, 'UNCONFIRMED');
  expect(await api.run(second.id)).toMatchObject({
    state: 'QUEUED',
    blockedBy: { kind: 'run', run: first.id, state: 'UNCONFIRMED' },
  });
  await api.act(first.id, 'confirm', { stateVersion: waiting.stateVersion });
  await api.waitForState(first.id, 'FINISHED');
  const behind = await api.waitForState(second.id, 'UNCONFIRMED');
  // The second was planned on what the first had applied.
  expect(behind.delta).toEqual({ added: 0, changed: 1, deleted: 0, resources: 2 });

  await scenario.expectWebhooksToTell(first.id);
  // The feed is in the order of commits; deliveries of different runs may overtake each other.
  const feed = z
    .object({
      items: z.array(
        z.object({ payload: z.object({ state: z.string(), run: z.object({ id: z.string() }) }) }),
      ),
    })
    .parse((await api.expectSuccess('GET', '/api/v1/events?limit=200')).json);
  const changes = feed.items.map(({ payload }) => `${payload.run.id} ${payload.state}`);
  const end = changes.indexOf(`${first.id} FINISHED`);
  const begin = changes.indexOf(`${second.id} READY`);
  expect(end).toBeGreaterThan(-1);
  expect(begin).toBeGreaterThan(end);
});

test('a preview of another branch does not wait, and what it writes to the state is thrown away', async () => {
  const { api } = scenario;
  const hooks = { afterInit: ['ls -A /state; echo here > "/state/left-by-$SLIPWAY_RUN_TYPE"'] };
  const { push } = await scenario.addStack('copied', { hooks });
  const tracked = await push(program(stash('one', '1')));
  await api.waitForState(tracked.id, 'UNCONFIRMED');

  const preview = await push(program(stash('one', '2')), { branch: 'feature' });
  expect(preview.type).toBe('PROPOSED');
  await api.waitForState(preview.id, 'FINISHED');
  // It sees the real state as it is, ...
  expect(await api.log(preview.id, 'initializing')).toContain('left-by-TRACKED');
  const check = await scenario.waitForCheckRun(preview.id, 'success');
  expect(check).toMatchObject({ name: 'slipway/copied (preview)', headSha: preview.sha });

  await api.act(tracked.id, 'discard');
  const next = await push(program(stash('one', '3')));
  await api.waitForState(next.id, 'UNCONFIRMED');
  // ... and the real state saw nothing of it.
  const log = await api.log(next.id, 'initializing');
  expect(log).toContain('left-by-TRACKED');
  expect(log).not.toContain('left-by-PROPOSED');
});

test('a push beside the project root starts nothing, and a manual run needs no push', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('rooted', { projectRoot: 'infra' });
  const beside = await github.commitAndPush(repository, {
    branch: 'main',
    message: 'Elsewhere',
    files: { 'infrastructure/Pulumi.yaml': program(stash('one', '1')) },
  });
  expect(beside.status).toBe(202);
  const inside = await github.commitAndPush(repository, {
    branch: 'main',
    message: 'There',
    files: { 'infra/Pulumi.yaml': program(stash('one', '1')) },
  });
  const run = await api.waitForRun(stack, inside.sha);
  await api.waitForState(run.id, 'UNCONFIRMED');
  await api.act(run.id, 'discard');
  expect((await api.runsOf(stack)).map(({ id }) => id)).toEqual([run.id]);

  const manual = await api.startRun(stack, { type: 'TRACKED' });
  expect(manual).toMatchObject({ triggeredBy: 'demo', commit: { hash: inside.sha, authorLogin: 'ada' } });
  await api.waitForState(manual.id, 'UNCONFIRMED');
  await scenario.expectWebhooksToTell(manual.id);
});
