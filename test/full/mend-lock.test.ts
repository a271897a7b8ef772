import { glob, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSchema } from '../../demo/api-objects.ts';
import { program, type Scenario, startScenario, stash } from '../support/scenario.ts';

const hourMs = 3_600_000;

/** As a pulumi elsewhere leaves it that was killed. */
async function holdLock({ dataDir }: Scenario, sinceMs: number): Promise<string> {
  const [state] = await Array.fromAsync(glob(join(dataDir, 'state/*/_')));
  const folder = join(state ?? '', '.pulumi/locks/organization/scenario/dev');
  await mkdir(folder, { recursive: true });
  const timestamp = new Date(sinceMs).toISOString();
  const lock = { pid: 4242, username: 'somebody', hostname: 'elsewhere', timestamp };
  await writeFile(join(folder, '6f0f1c1e-0d53-4f3b-9d0c-6a4f3f1f0a11.json'), JSON.stringify(lock));
  return folder;
}

test('a lock that somebody left is told of, released by a task, and the run goes through', async () => {
  await using scenario = await startScenario();
  const { api } = scenario;
  const { stack, push } = await scenario.addStack('left-locked', { autodeploy: true });
  await api.waitForState((await push(program(stash('one', '1')))).id, 'FINISHED');
  const explain = async (id: string) =>
    (await api.expectSuccess('GET', `/api/v1/runs/${id}/explanation`)).json;
  const sinceMs = Date.now() - 3.5 * hourMs;
  const locks = await holdLock(scenario, sinceMs);

  const { id } = await push(program(stash('one', '2')));
  const failed = await api.waitForState(id, 'FAILED');
  expect(failed).toMatchObject({
    outcome: 'state_locked',
    note: expect.stringMatching(
      /^The state is locked, for 3 hours, by somebody@elsewhere, process 4242\. Nothing was changed\./,
    ),
  });
  expect(await explain(id)).toMatchObject({
    happened: 'The lock of the state is held by somebody else. Nothing was applied.',
    trouble: { kind: 'state-locked', holder: 'somebody@elsewhere, process 4242' },
    mend: { standing: 'possible', command: 'pulumi cancel --yes' },
  });
  await scenario.waitForCheckRun(id, 'failure');

  // What a person tries by hand meets the same, and then says how the state is.
  const tried = await api.startRun(stack, { type: 'TASK', command: 'pulumi refresh --yes --skip-preview' });
  expect(await api.waitForState(tried.id, 'FAILED')).toMatchObject({ outcome: 'state_locked' });
  const past = await api.request('POST', `/api/v1/runs/${id}/mend`);
  expect([past.status, past.json]).toMatchObject([409, { code: 'nothing-to-mend' }]);

  const { json } = await api.expectSuccess('POST', `/api/v1/runs/${tried.id}/mend`);
  const task = runSchema.parse(json);
  expect(task).toMatchObject({
    type: 'TASK',
    command: 'pulumi cancel --yes',
    commit: { hash: failed.commit.hash },
  });
  await api.waitForState(task.id, 'FINISHED');
  expect(await readdir(locks)).not.toContainEqual(expect.stringMatching(/\.json$/));
  const again = await api.act(id, 'retry');
  await api.waitForState(again.id, 'FINISHED');
  expect(await scenario.commandLines(again.id)).not.toContain('pulumi stack export');
  await scenario.expectWebhooksToTell(again.id);
});
