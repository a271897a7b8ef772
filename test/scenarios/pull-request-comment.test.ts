import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

/** All that the App says below pull requests of the repository. */
const saidIn = (repository: Repository) =>
  scenario.github.comments
    .filter(({ issue, author }) => issue.repository === repository && author.type === 'Bot')
    .map(({ body }) => body);

test('a pull request has one comment: stacks with the same plan in one row, edited with the next push', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('told-dev');
  const prod = await scenario.addStackTo(repository, 'told-prod', {
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'prod' } },
  });
  const push = (...resources: string[]) =>
    github.commitAndPush(repository, {
      ...{ branch: 'topic', message: 'Change', pusher: 'ada' },
      files: { 'Pulumi.yaml': program(...resources) },
    });

  const first = await push(stash('one', '1'));
  const { number } = await github.openPullRequest(repository, { head: 'topic', author: 'bob' });
  for (const each of [stack, prod.stack]) {
    await api.waitForState((await api.waitForRun(each, first.sha)).id, 'FINISHED');
  }

  await expect.poll(() => saidIn(repository).join(), patience).toContain('2 stacks: ');
  expect(saidIn(repository)).toHaveLength(1);
  const [said = ''] = saidIn(repository);
  expect(said).toContain(`<!-- slipway:pull-request:${repository.id}:${number} -->`);
  expect(said).toContain('<code>told-dev</code></a>, <a');
  expect(said).toContain('<td>preview</td><td>Previewed</td><td><code>+2 ~0 -0</code></td>');
  expect(said).toContain(first.sha.slice(0, 7));

  const second = await push(stash('one', '1'), stash('two', '2'));
  for (const each of [stack, prod.stack]) {
    await api.waitForState((await api.waitForRun(each, second.sha)).id, 'FINISHED');
  }
  await expect
    .poll(() => saidIn(repository).join(), patience)
    .toMatch(new RegExp(`2 stacks: .*<code>\\+3 ~0 -0</code>.*${second.sha.slice(0, 7)}`));
  expect(saidIn(repository)).toHaveLength(1);
  expect(saidIn(repository)[0]).not.toContain(first.sha.slice(0, 7));
});

test('what is applied is a deployment, from the question to the tear-down', async () => {
  const { api, github } = scenario;
  const { stack, repository, push } = await scenario.addStack('shown', {
    deploymentEnvironment: 'staging',
  });
  const states = () =>
    github.deployments
      .filter((deployment) => deployment.repository === repository)
      .map(({ request, statuses }) => ({
        environment: request.environment,
        states: statuses.map(({ request: { state } }) => state),
      }));

  const run = await push(program(stash('one', '1')));
  await api.waitForState(run.id, 'UNCONFIRMED');
  await expect.poll(states, patience).toEqual([{ environment: 'staging', states: ['pending'] }]);
  await api.act(run.id, 'confirm');
  await api.waitForState(run.id, 'FINISHED');
  await expect.poll(() => states()[0]?.states.at(-1), patience).toBe('success');
  const idle = await push(`${program(stash('one', '1'))}# The same.\n`);
  await api.waitForState(idle.id, 'FINISHED');

  const destroy = await api.startRun(stack, { type: 'DESTROY' });
  await api.waitForState(destroy.id, 'UNCONFIRMED');
  await api.act(destroy.id, 'confirm', { confirmation: stack.name });
  await api.waitForState(destroy.id, 'FINISHED');

  await expect.poll(() => states()[0]?.states.at(-1), patience).toBe('inactive');
  expect(states()).toHaveLength(1);
  expect(github.deployments.find((each) => each.repository === repository)?.sha).toBe(run.sha);
});
