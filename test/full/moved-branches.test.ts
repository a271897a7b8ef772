import { execa } from 'execa';
import { expect, test } from 'vitest';
import { program, startScenario, stash } from '../support/scenario.ts';

test('a branch that is gone when its push is handled ends its preview with the reason', async () => {
  await using scenario = await startScenario();
  const { api, github, server } = scenario;
  const { stack, repository } = await scenario.addStack('deleted');
  await server.stop();
  const files = { 'Pulumi.yaml': program(stash('one', '1')) };
  const pushed = await github.commitAndPush(repository, { branch: 'topic', message: 'One', files });
  await github.deleteBranch(repository, { branch: 'topic' });
  await execa('git', [`--git-dir=${repository.gitDir}`, 'gc', '--quiet', '--prune=now']);

  await server.start();

  const run = await api.waitForRun(stack, pushed.sha);
  expect(run.type).toBe('PROPOSED');
  const ended = await api.waitForState(run.id, 'FAILED');
  expect(ended.outcome).toBe('source_unavailable');
  expect(ended.note).toContain('The commit is no longer in the repository');
});

test('a forced push during a run leaves that run its commit, and its own waits', async () => {
  await using scenario = await startScenario();
  const { api, github } = scenario;
  const { stack, repository, push } = await scenario.addStack('forced', {
    hooks: { beforePlan: ['git rev-parse HEAD; sleep 2'] },
  });
  const first = await push(program(stash('one', '1')));
  await api.waitForState(first.id, 'PLANNING');
  const files = { 'Pulumi.yaml': program(stash('two', '2')) };
  await github.forcePush(repository, {
    branch: 'main',
    onto: 'main~1',
    commits: [{ message: 'Anew', files }],
  });
  const sha = repository.announced.get('refs/heads/main') ?? '';

  const second = await api.waitForRun(stack, sha);
  await api.waitForState(first.id, 'UNCONFIRMED');

  expect((await api.run(second.id)).state).toBe('QUEUED');
  await api.act(first.id, 'discard');
  await api.waitForState(second.id, 'UNCONFIRMED');
  expect(await api.log(second.id, 'planning')).toContain(sha);
  await scenario.expectWebhooksToTell(first.id);
});
