import { expect, it } from 'vitest';
import { aRepository, person } from '../../support/builders.ts';
import { realOpa } from '../../support/real-opa.ts';
import { engineDouble } from '../engine-double.ts';
import { openFollowUpWorld } from '../follow-up-world.ts';

const openWorld = () => openFollowUpWorld({ engine: engineDouble().engine });
const starts = (...ids: readonly string[]) => `trigger: ${JSON.stringify(ids)}`;

it('starts the head of the tracked branch after a run that is over, once, and says why', async () => {
  await using world = await openWorld();
  const [network, app] = [await world.stack('network'), await world.stack('app')];
  const policy = await world.policy({ name: 'Chain', body: starts('app') }, network);
  world.commit(app, 'a2');
  const first = await world.deploy(network);
  expect(await world.judge()).toBe(0);

  await world.end();
  expect(await world.judge()).toBe(1);

  const [started, ...others] = await world.runsOf(app);
  expect(others).toEqual([]);
  expect(started).toMatchObject({
    ...{ type: 'TRACKED', branch: 'app', commit: { hash: 'a2' } },
    ...{ triggeredBy: 'policy Chain', startedBy: `policy:${policy.id}` },
  });
  const id = started?.id ?? '';
  expect(await world.causes.find(id)).toEqual({
    ...{ runId: id, causeRunId: first, workflow: first, depth: 1 },
    ...{ policyId: policy.id, policyName: 'Chain' },
  });
  expect(world.shownCauses).toEqual([`${id} after ${first} by Chain`]);
  expect(await world.decisions.ofRun(first)).toMatchObject([
    { outcome: 'triggered', messages: [`app: run ${id} started`], subject: 'the end of the run: FINISHED' },
  ]);
  expect(await world.told()).toEqual([]);
});

it('makes one run of what several policies want', async () => {
  await using world = await openWorld();
  const [network, app] = [await world.stack('network'), await world.stack('app')];
  await world.policy({ name: 'A', body: starts('app') }, network);
  await world.policy({ name: 'B', body: starts('app') }, network);
  await world.deploy(network);
  await world.end();
  await world.judge();

  expect((await world.runsOf(app)).map(({ triggeredBy }) => triggeredBy)).toEqual(['policy A']);
});

it('judges no preview, and no stack without a policy', async () => {
  await using world = await openWorld();
  const [network, app] = [await world.stack('network'), await world.stack('app')];
  await world.policy({ body: starts('app') }, network);
  await world.triggers.manual(network, { type: 'PROPOSED' }, person('ada'));
  await world.deploy(app);
  for (let runs = 0; runs < 2; runs += 1) await world.end();

  expect(await world.judge()).toBe(0);
});

it('starts nothing that is unknown or of another account, and tells so', async () => {
  await using world = await openWorld();
  const network = await world.stack('network');
  await world.otherAccount('theirs');
  await world.policy({ name: 'Chain', body: starts('nowhere', 'theirs') }, network);
  const run = await world.deploy(network);
  await world.end();
  await world.judge();

  const lines = ['nowhere', 'theirs'].map((id) => `${id}: not started, the account has no such stack`);
  expect((await world.decisions.ofRun(run))[0]?.messages).toEqual(lines);
  expect(await world.told()).toEqual([
    `ERROR Not all that the policy Chain wants was started: After run ${run}:\n${lines.join('\n')}`,
  ]);
});

it('starts nothing where the repository is gone or the branch is not there', async () => {
  await using world = await openWorld();
  const { database, repositories } = world;
  await database.write((tx) =>
    repositories.saveRepository(tx, aRepository({ id: 23, fullName: 'acme/away' })),
  );
  const [network] = [await world.stack('network'), await world.stack('app'), await world.stack('away', 23)];
  await database.write((tx) => repositories.markRemoved(tx, [23]));
  world.commits.delete('app');
  await world.policy({ body: starts('app', 'away') }, network);
  const run = await world.deploy(network);
  await world.end();
  await world.judge();

  const [decision] = await world.decisions.ofRun(run);
  expect(decision?.messages).toEqual([
    'app: not started, there is no branch app in acme/infra',
    expect.stringMatching(/^away: not started, .*acme\/away/),
  ]);
  expect(await world.told()).toHaveLength(1);
});

it('asks GitHub again while it does not answer, and gives up after half an hour', async () => {
  await using world = await openWorld();
  const [network, app] = [await world.stack('network'), await world.stack('app')];
  await world.policy({ name: 'Chain', body: starts('app') }, network);
  const run = await world.deploy(network);
  await world.end();
  const { resolve } = world.source;
  world.source.resolve = () => Promise.reject(new Error('GitHub is down'));

  let asked = 0;
  for (; (await world.decisions.ofRun(run)).length === 0 && asked < 50; asked += 1) {
    await world.judge();
    world.clock.advance(5 * 60_000);
  }
  expect(asked).toBeGreaterThan(5);
  expect(asked).toBeLessThan(10);
  expect((await world.told())[0]).toMatch(/app: not started, GitHub does not say/);
  expect(await world.runsOf(app)).toEqual([]);

  world.source.resolve = resolve;
  await world.deploy(network);
  await world.end();
  await world.judge();
  expect(await world.runsOf(app)).toHaveLength(1);
});

it('tells of a policy that cannot be evaluated, which triggers nothing', async () => {
  const { engine } = engineDouble({
    evaluate: async () => ({
      kind: 'failed',
      failure: { code: 'builtin', message: 'to_number: not a number', line: 3 },
      durationMs: 1,
    }),
  });
  await using world = await openFollowUpWorld({ engine });
  const network = await world.stack('network');
  await world.policy({ name: 'Broken' }, network);
  const run = await world.deploy(network);
  await world.end();
  await world.judge();

  expect(await world.decisions.ofRun(run)).toMatchObject([{ outcome: 'failed', messages: [] }]);
  expect(await world.told()).toEqual([
    `ERROR The policy Broken could not be evaluated: Of run ${run} of network: to_number: not a number (line 3)`,
  ]);
});

it('ends two stacks that start each other', async () => {
  await using world = await openWorld();
  const [ping, pong] = [await world.stack('ping'), await world.stack('pong')];
  await world.policy({ name: 'There', body: starts('pong') }, ping);
  await world.policy({ name: 'Back', body: starts('ping') }, pong);
  const first = await world.deploy(ping);

  await world.end();
  await world.judge();
  const second = await world.end();
  await world.judge();

  expect(await world.runsOf(ping)).toHaveLength(1);
  expect(await world.runsOf(pong)).toHaveLength(1);
  expect((await world.decisions.ofRun(second.id))[0]?.messages).toEqual([
    `ping: not started, this follows from run ${first} of the same stack, which is FINISHED; only after a failure a stack is tried again`,
  ]);
});

it('joins a diamond when both arms are done, by what the workflow says', async () => {
  using opa = realOpa();
  await using world = await openFollowUpWorld({ engine: opa.engine });
  const [network, left] = [await world.stack('network'), await world.stack('left')];
  const [right, site] = [await world.stack('right'), await world.stack('site')];
  const fork = 'package slipway\n\ntrigger contains id if some id in {"left", "right"}\n';
  const join = `package slipway

done := {run.stack_id | some run in input.workflow; run.state == "FINISHED"}

trigger contains "site" if {"left", "right"} & done == {"left", "right"}
`;
  await world.policy({ name: 'Fork', body: fork }, network);
  await world.policy({ name: 'Join', body: join }, left, right);
  await world.deploy(network);

  await world.end();
  await world.judge();
  await world.end();
  await world.judge();
  expect(await world.runsOf(site)).toEqual([]);
  await world.end();
  await world.judge();

  const joined = await world.runsOf(site);
  expect(joined).toHaveLength(1);
  await world.end();
  await world.judge();
  const members = await world.followUps.workflowOf(await world.run(joined[0]?.id ?? ''));
  expect(members.map(({ cause }) => cause?.depth ?? 0)).toEqual([0, 1, 1, 2]);
  expect(await world.told()).toEqual([]);
});

it('tries a failed run again once', async () => {
  using opa = realOpa();
  await using world = await openFollowUpWorld({ engine: opa.engine });
  const network = await world.stack('network');
  const body = `package slipway

trigger contains input.stack.id if {
	input.run.state == "FAILED"
	not startswith(input.run.creator_session.login, "policy:")
}
`;
  await world.policy({ name: 'Once more', body }, network);
  await world.deploy(network);

  await world.end('FAILED');
  await world.judge();
  expect(await world.runsOf(network)).toHaveLength(2);
  await world.end('FAILED');
  await world.judge();

  const runs = await world.runsOf(network);
  expect(runs.map(({ state, triggeredBy }) => `${state} ${triggeredBy}`)).toEqual([
    'FAILED policy Once more',
    'FAILED ada@example.com',
  ]);
});
