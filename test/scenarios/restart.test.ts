import { glob, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { program, startScenario, stash } from '../support/scenario.ts';

test('a server that was killed while a plan waits keeps its workspace, and the plan can be confirmed', async () => {
  await using scenario = await startScenario();
  const { api, server } = scenario;
  const hooks = {
    beforePlan: ['echo "kept from planning" > marker; export KEPT="and exported"'],
    beforeApply: ['cat marker; echo "$KEPT"'],
  };
  const { push } = await scenario.addStack('killed', { hooks });
  const { id } = await push(program(stash('one', '1')));
  const { stateVersion } = await api.waitForState(id, 'UNCONFIRMED');
  await server.kill9();
  await expect(fetch(`${server.url}/readyz`)).rejects.toThrow();
  await server.start();

  expect(await api.run(id)).toMatchObject({ state: 'UNCONFIRMED', stateVersion });
  await api.act(id, 'confirm', { stateVersion });
  await api.waitForState(id, 'FINISHED');
  const log = await api.log(id, 'applying');
  expect(log).toContain('kept from planning');
  expect(log).toContain('and exported');
  await scenario.expectWebhooksToTell(id, { mayRepeat: true });
  await scenario.waitForCheckRun(id, 'success');
});

test('a state in which a killed pulumi left half a file is used on', async () => {
  await using scenario = await startScenario();
  const { api, dataDir } = scenario;
  const { push } = await scenario.addStack('halved', { autodeploy: true });
  await api.waitForState((await push(program(stash('one', '1')))).id, 'FINISHED');
  // It makes these anew with each write, and is killed between the making and the writing.
  const attributes = await Array.fromAsync(glob(join(dataDir, 'state/*/_/.pulumi/**/*.attrs')));
  expect(attributes.some((path) => path.endsWith('/dev.json.attrs'))).toBe(true);
  for (const path of attributes) await truncate(path);

  await api.waitForState((await push(program(stash('one', '2')))).id, 'FINISHED');
  const preview = await push(program(stash('one', '3')), { branch: 'topic' });
  await api.waitForState(preview.id, 'FINISHED');
});

test('SIGTERM lets a phase that runs end, then ends the server with exit code 0', async () => {
  await using scenario = await startScenario();
  const { api, server } = scenario;
  const { push } = await scenario.addStack('terminated', { hooks: { beforePlan: ['sleep 2'] } });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'PLANNING');
  expect(await server.stop()).toBe(0);
  await expect(fetch(`${server.url}/readyz`)).rejects.toThrow();
  await server.start();

  await api.waitForState(id, 'UNCONFIRMED');
  await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED');
  await scenario.expectWebhooksToTell(id);
});
