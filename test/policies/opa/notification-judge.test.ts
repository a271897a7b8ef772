import { expect, it } from 'vitest';
import type { Run } from '../../../src/runs/run.ts';
import { aPullRequest, person } from '../../support/builders.ts';
import { realOpa } from '../../support/real-opa.ts';
import { engineDouble } from '../engine-double.ts';
import { openFollowUpWorld } from '../follow-up-world.ts';

const openWorld = () => openFollowUpWorld({ engine: engineDouble().engine });
type World = Awaited<ReturnType<typeof openWorld>>;

/** A notification policy that says the same of every state change. */
function says(world: World, rules: Readonly<Record<string, unknown>>, name = 'Tell') {
  const lines = Object.entries(rules).map(([rule, value]) => `${rule}: ${JSON.stringify(value)}`);
  return world.policy({
    ...{ name, kind: 'NOTIFICATION', rules: Object.keys(rules) },
    body: lines.join('\n'),
  });
}

/** A preview of pull request 7, in QUEUED. */
async function preview(world: World, stack: Parameters<World['deploy']>[0]): Promise<Run> {
  const made = await world.commands.create({
    ...{ stackKey: stack.key, type: 'PROPOSED', branch: 'feature', commit: world.headOf(stack) },
    ...{ pullRequest: aPullRequest(), by: person('ada'), dedupeKey: null },
  });
  if (made === 'duplicate') throw new Error('there is a run already');
  return made;
}

it('tells the account of every state change, whatever the stack', async () => {
  using opa = realOpa();
  await using world = await openFollowUpWorld({ engine: opa.engine });
  const network = await world.stack('network');
  const body = `package slipway

inbox contains {"title": sprintf("%s is %s", [run.stack.id, run.state]), "body": run.urls.run, "severity": "WARNING"} if {
	run := input.run_updated
	run.state in {"PLANNING", "FINISHED"}
	count(run.timing) == run.run.state_version - 1
}
`;
  await world.policy({ name: 'Tell', kind: 'NOTIFICATION', rules: ['inbox'], body });
  const run = await world.deploy(network);
  await world.end();
  await world.judge();

  const url = `https://slipway.example.com/runs/${run}`;
  expect(await world.told()).toEqual([
    `WARNING network is PLANNING: ${url}`,
    `WARNING network is FINISHED: ${url}`,
  ]);
  expect((await world.decisions.ofRun(run)).map(({ subject, messages }) => [subject, ...messages])).toEqual([
    ...['QUEUED', 'READY', 'PREPARING', 'INITIALIZING'].map((state) => [`the change to ${state}`]),
    ['the change to PLANNING', 'inbox: 1'],
    ['the change to FINISHED', 'inbox: 1'],
  ]);
});

it('says what matters when a message says nothing', async () => {
  await using world = await openWorld();
  await says(world, { inbox: [{}] });
  await world.deploy(await world.stack('network'));
  await world.judge();

  expect((await world.told())[0]).toBe('INFO network: QUEUED: ');
});

it('comments on the pull request of the run, on one that is named, and on those of a commit or a branch', async () => {
  await using world = await openWorld();
  const network = await world.stack('network');
  const comments = [
    { body: 'own' },
    { body: 'named', id: 12, deduplication_key: 'k' },
    { body: 'of a commit', commit: 'abc' },
    { body: 'of a branch', branch: 'main' },
  ];
  await says(world, { pull_request: comments });
  world.github.pullRequests.set('abc', [3]).set('main', [4, 5]);
  const run = await preview(world, network);
  world.written.length = 0;
  await world.judge();

  const first = world.written.filter(({ stateVersion }) => stateVersion === 1);
  expect(first.map(({ number, body, key }) => `${number} ${body} ${key}`).toSorted()).toEqual([
    ...['12 named k', '3 of a commit null', '4 of a branch null', '5 of a branch null', '7 own null'],
  ]);
  expect(first[0]).toMatchObject({ repositoryId: 21, runId: run.id });
});

it('comments on the pull requests of its commit when a push was faster than theirs', async () => {
  await using world = await openWorld();
  const network = await world.stack('network');
  await says(world, { pull_request: [{ body: 'own' }] });
  world.github.pullRequests.set(world.headOf(network).hash, [9]);

  await world.deploy(network);
  await world.judge();

  expect(world.written.map(({ number, body }) => `${number} ${body}`)).toContain('9 own');
});

it('says what could not be sent, once for each run', async () => {
  await using world = await openWorld();
  const network = await world.stack('network');
  const pull_request = [{ body: 'x' }, { body: 'y', commit: 'abc' }];
  await says(world, { pull_request, webhook: [{ endpoint_id: 'hook' }, { endpoint_id: 'off' }] });
  const run = await world.deploy(network);
  await world.judge();
  const [first] = await world.decisions.ofRun(run);

  expect(first?.messages).toEqual([
    ...['webhook: 2', 'pull_request: 2'],
    'pull_request: no pull request has the commit of the run, and none is named',
    'pull_request: no pull request has the commit abc',
    'webhook: the webhook off is disabled',
  ]);
  expect(world.requests.map(({ webhookId }) => webhookId)).toContain('hook');
  expect(await world.told()).toEqual([
    expect.stringMatching(/^ERROR Not all that the policy Tell wants could be sent: Of run .* QUEUED: pull_/),
  ]);
});

it('asks GitHub again while it does not answer, then sends the rest', async () => {
  await using world = await openWorld();
  await says(world, { pull_request: [{ body: 'x', branch: 'main' }], inbox: [{ title: 'Hello' }] });
  world.github.answers = false;
  const run = await world.deploy(await world.stack('network'));
  await world.judge();
  expect(await world.decisions.ofRun(run)).toEqual([]);

  world.clock.advance(31 * 60_000);
  await world.judge();
  expect((await world.decisions.ofRun(run))[0]?.messages).toContain(
    'pull_request: GitHub does not say which pull requests there are',
  );
  expect(await world.told()).toContain('INFO Hello: ');
});

it('tells once of a policy that cannot be evaluated, and judges nothing by that', async () => {
  const { engine, evaluated } = engineDouble();
  await using world = await openFollowUpWorld({ engine });
  await says(world, { inbox: ['no object'] }, 'Broken');
  await world.deploy(await world.stack('network'));
  await world.end();
  await world.judge();

  expect(evaluated.length).toBeGreaterThan(3);
  expect(await world.told()).toEqual([
    expect.stringMatching(/^ERROR The policy Broken could not be evaluated: Of run .* of network: inbox has/),
  ]);
  expect(await world.judge()).toBe(0);
});

it('sends no more than twenty of a kind', async () => {
  await using world = await openWorld();
  await says(world, { inbox: Array.from({ length: 25 }, (_, n) => ({ title: `n${n}` })) });
  const run = await world.deploy(await world.stack('network'));
  const jobs = await world.judge();

  const told = await world.told();
  expect(told.filter((each) => each.startsWith('INFO'))).toHaveLength(20 * jobs);
  expect(told.filter((each) => each.startsWith('ERROR'))).toHaveLength(1);
  expect((await world.decisions.ofRun(run))[0]?.messages).toEqual([
    'inbox: 25',
    'inbox: more than 20 are wanted; the rest is left out',
  ]);
});
