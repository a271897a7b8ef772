import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../../demo/wait.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

const attempts = /^\/app\/hook\/deliveries\/\d+\/attempts$/;
const list = /^\/app\/hook\/deliveries$/;

const asked = ({ github }: Scenario) => github.requests.filter(({ path }) => attempts.test(path)).length;
const listed = ({ github }: Scenario) =>
  github.requests.filter(({ path, status }) => list.test(path) && status === 200).length;

const change = (input: string) => ({
  ...{ branch: 'main', message: `Set ${input}`, pusher: 'ada' },
  files: { 'Pulumi.yaml': program(stash('one', input)) },
});

test('a push that came while the server was down is run once, when it is up again', async () => {
  await using scenario = await startScenario();
  const { api, github, server } = scenario;
  const { stack, repository, push } = await scenario.addStack('away', { autodeploy: true });
  await api.waitForState((await push(program(stash('one', '1')))).id, 'FINISHED');
  await server.stop();
  const lost = await github.commitAndPush(repository, change('2'));
  expect(lost.status).toBe(0);

  await server.start();

  const run = await api.waitForRun(stack, lost.sha);
  expect(run.triggeredBy).toBe('ada@example.com');
  await api.waitForState(run.id, 'FINISHED');
  await scenario.waitForCheckRun(run.id, 'success');
  const before = { asked: asked(scenario), listed: listed(scenario) };
  await server.restart();
  await expect.poll(() => listed(scenario), patience).toBeGreaterThan(before.listed);
  expect(asked(scenario)).toBe(before.asked);
  expect(await api.runsOf(stack)).toHaveLength(2);
});

test('a push that was answered comes again to a server that went back to a backup', async () => {
  await using scenario = await startScenario();
  const { api, dataDir, dir, server } = scenario;
  const { stack, push } = await scenario.addStack('restored');
  const backup = join(dir, 'backup');
  const databaseFiles = async (of: string) =>
    (await readdir(of)).filter((name) => /^slipway\.db(-wal|-shm)?$/.test(name));
  await server.stop();
  await mkdir(backup);
  for (const name of await databaseFiles(dataDir)) await cp(join(dataDir, name), join(backup, name));
  await server.start();
  const first = await push(program(stash('one', '1')));
  await server.stop();

  for (const name of await databaseFiles(dataDir)) await rm(join(dataDir, name));
  for (const name of await databaseFiles(backup)) await cp(join(backup, name), join(dataDir, name));
  await server.start();

  const again = await api.waitForRun(stack, first.sha);
  expect(again.id).not.toBe(first.id);
  await api.waitForState(again.id, 'UNCONFIRMED');
  expect(await api.runsOf(stack)).toHaveLength(1);
});

/** The second look at a branch comes a minute after the first, and so does a list that could not be read. */
const slow = 200_000;

test(
  'what GitHub keeps no trace of is offered on its commit, and a list that fails loses nothing',
  async () => {
    await using scenario = await startScenario();
    const { api, github, server } = scenario;
    const silent = await scenario.addStack('silent', { autodeploy: true });
    const told = await scenario.addStack('told', { autodeploy: true });
    await api.waitForState((await silent.push(program(stash('one', '1')))).id, 'FINISHED');
    await api.waitForState((await told.push(program(stash('one', '1')))).id, 'FINISHED');
    await server.stop();
    const sha = await github.commit(silent.repository, change('2'));
    const lost = await github.commitAndPush(told.repository, change('2'));
    github.failNext({ pathPattern: list, status: 502 });

    await server.start();

    // By whichever finds out first: at the same minute the list is read and the branch is looked at again.
    const late = await waitFor(
      'the run of the push that was told to nobody',
      async () => (await api.runsOf(told.stack)).find(({ commit }) => commit.hash === lost.sha),
      { timeoutMs: 100_000 },
    );
    await api.waitForState(late.id, 'FINISHED');
    expect(await api.runsOf(told.stack)).toHaveLength(2);

    const offer = await waitFor(
      'the offer',
      () => github.checkRuns.find((each) => each.headSha === sha && each.conclusion === 'action_required'),
      { timeoutMs: 100_000 },
    );
    expect(offer.name).toBe('slipway/silent');
    expect(await api.runsOf(silent.stack)).toHaveLength(1);
    await github.pressButton(offer, 'deploy', 'cleo');
    await github.pressButton(offer, 'deploy', 'bob');
    const run = await api.waitForRun(silent.stack, sha);
    expect(run.triggeredBy).toContain('+bob@');
    await api.waitForState(run.id, 'FINISHED');
    await scenario.waitForCheckRun(run.id, 'success');
    const open = () =>
      github.checkRuns.filter(({ conclusion }) => conclusion === 'action_required').map(({ name }) => name);
    await expect.poll(open, patience).toEqual([]);
  },
  slow,
);
