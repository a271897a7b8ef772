import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../../demo/wait.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { scenarioPolicies } from '../support/scenario-policies.ts';

let scenario: Scenario;
let policies: ReturnType<typeof scenarioPolicies>;
beforeAll(async () => {
  scenario = await startScenario();
  policies = scenarioPolicies(scenario.api);
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test('a run starts another one, and people and programs are told, as policies want', async () => {
  const { api, receiver } = scenario;
  const base = await scenario.addStack('base', { autodeploy: true, labels: ['base'] });
  const top = await scenario.addStack('top', { autodeploy: true });
  await top
    .push(program(stash('top', '1')), { message: 'Begin' })
    .then(({ id }) => api.waitForState(id, 'FINISHED'));
  await policies.add(
    'TRIGGER',
    'Chain',
    `trigger contains "top" if input.run.state == "FINISHED"

trigger contains "nowhere" if input.run.state == "FINISHED"`,
    'base',
  );
  await policies.add(
    'NOTIFICATION',
    'Tell',
    `over if input.run_updated.state == "FINISHED"

inbox contains {"title": sprintf("%s is done", [input.run_updated.stack.id])} if over

webhook contains {"endpoint_id": endpoint.id, "payload": {"run": input.run_updated.run.id, "told": "by a policy"}} if {
	over
	some endpoint in input.webhook_endpoints
}`,
  );

  const first = await base.push(program(stash('base', '1')));
  await api.waitForState(first.id, 'FINISHED');
  const started = await waitFor(
    'the run that follows',
    async () => (await api.runsOf(top.stack)).find(({ triggeredBy }) => triggeredBy === 'policy Chain'),
    { timeoutMs: 20_000 },
  );
  await api.waitForState(started.id, 'FINISHED');

  expect((await api.request('GET', `/api/v1/runs/${started.id}`)).json).toMatchObject({
    cause: { run: first.id, policy: 'Chain' },
  });
  await expect
    .poll(policies.notices, patience)
    .toEqual([
      'ERROR Not all that the policy Chain wants was started',
      'INFO base is done',
      'INFO top is done',
    ]);
  const ofPolicies = () =>
    receiver.received.filter(({ body }) => z.looseObject({ told: z.string() }).safeParse(body).success);
  await expect.poll(() => ofPolicies().map(({ body }) => body), patience).toHaveLength(2);
  expect(ofPolicies().map(({ verified256, body }) => [verified256, body])).toContainEqual([
    true,
    { run: first.id, told: 'by a policy' },
  ]);
  const check = await scenario.waitForCheckRun(started.id, 'success');
  await expect
    .poll(() => check.output?.summary, patience)
    .toContain('The policy `Chain` started this run after [run');
});

const afterEachOther = `
trigger contains "pong" if {
	input.stack.id == "ping"
	input.run.state == "FINISHED"
}

trigger contains "ping" if {
	input.stack.id == "pong"
	input.run.state == "FINISHED"
}`;

test('a stack runs after another, once, and two that want each other do not go on for ever', async () => {
  const { api } = scenario;
  const policy = await policies.add('TRIGGER', 'rally', afterEachOther);
  const [ping, pong] = [
    await scenario.addStack('ping', { autodeploy: true }),
    await scenario.addStack('pong', { autodeploy: true }),
  ];
  const yaml = program(stash('one', '1'));
  await api.waitForState((await ping.push(yaml)).id, 'FINISHED');
  await api.waitForState((await pong.push(yaml)).id, 'FINISHED');
  for (const { stack } of [ping, pong]) await api.changeStack(stack, { labels: ['rally'] });

  const served = await ping.push(program(stash('one', '2')));
  await api.waitForState(served.id, 'FINISHED');
  const newest = async () => (await api.runsOf(pong.stack)).find(({ type }) => type === 'TRACKED');
  await expect.poll(async () => (await newest())?.triggeredBy, patience).toContain('rally');
  const returned = await newest();
  await api.waitForState(returned?.id ?? '', 'FINISHED');

  const said = async () => (await policies.decisions(policy)).map(({ run, messages }) => ({ run, messages }));
  await expect.poll(said, patience).toEqual([
    {
      run: returned?.id,
      messages: [expect.stringContaining(`ping: not started, this follows from run ${served.id}`)],
    },
    { run: served.id, messages: [`pong: run ${returned?.id} started`] },
  ]);
  expect((await api.runsOf(ping.stack))[0]?.id).toBe(served.id);
  await scenario.expectWebhooksToTell(returned?.id ?? '');
});

test('a trigger policy that loops for ever is stopped, and nothing follows', async () => {
  const { api } = scenario;
  const bomb = `
trigger contains "endless" if {
	some a in numbers.range(1, 20000)
	some b in numbers.range(1, 20000)
	a * b < 0
}`;
  const policy = await policies.add('TRIGGER', 'endless', bomb);
  const { stack, push } = await scenario.addStack('endless', { autodeploy: true, labels: ['endless'] });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'FINISHED');
  await expect
    .poll(() => policies.decisions(policy), patience)
    .toMatchObject([
      { run: id, outcome: 'failed', failure: { code: 'timeout', message: expect.stringContaining('5 s') } },
    ]);
  expect(await api.runsOf(stack)).toHaveLength(1);
  await expect.poll(policies.notices, patience).toContain('ERROR The policy endless could not be evaluated');
});

test('a comment that a policy keeps on a pull request is written once and edited', async () => {
  const { api, github } = scenario;
  await policies.add(
    'NOTIFICATION',
    'heralds',
    `pull_request contains {"body": sprintf("Previewed %s.", [input.run_updated.run.commit.message]), "deduplication_key": "done"} if {
	input.run_updated.stack.id == "heralded"
	input.run_updated.run.type == "PROPOSED"
	input.run_updated.state == "FINISHED"
}`,
  );
  const { repository, push } = await scenario.addStack('heralded', { autodeploy: true });
  await github.commitAndPush(repository, { branch: 'topic', message: 'Begin', files: { 'README.md': 'x' } });
  await github.openPullRequest(repository, { head: 'topic', author: 'ada' });
  for (const message of ['one', 'the other']) {
    const { id } = await push(program(stash('one', message)), { branch: 'topic', message });
    await api.waitForState(id, 'FINISHED');
    const comments = () =>
      github.comments
        .filter(({ issue }) => issue.repository === repository)
        // Not of the table of Slipway's own comment, which has the word for the state.
        .flatMap(({ body }) => /^Previewed .*\.$/m.exec(body)?.[0] ?? []);
    await expect.poll(comments, patience).toEqual([`Previewed ${message}.`]);
  }
});
