import { expect, test } from 'vitest';
import { aCommit, aPullRequest, pullRequestDetails } from '../support/builders.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const settings = { projectRoot: 'infra', unaffectedChecks: true };
const reason = 'no changed path belongs to the stack';

/** An event of a pull request with that head. */
function change(world: RunWorld, hash: string, changedPaths: readonly string[]) {
  return world.pullRequests.changed(
    {
      ...{ repositoryId: 21, pullRequest: aPullRequest(), branch: 'topic', headHash: hash, isDraft: false },
      details: pullRequestDetails(),
      sender: { login: 'bob', email: 'bob@example.com' },
      read: async () => ({ head: aCommit({ hash }), changedPaths, bots: [] }),
    },
    `delivery-${world.newId()}`,
  );
}

test.each([
  ['main', 'TRACKED'],
  ['topic', 'PROPOSED'],
])('a push to %s that does not concern the stack is shown as %s', async (branch, type) => {
  await using world = await openRunWorld();
  const { key } = await world.addStack(settings);
  await world.push('a1', { branch, paths: ['docs/a'] });
  expect(world.unaffected).toEqual([{ stack: key, commit: 'a1', type, reason }]);
});

test('a pull request that does not concern the stack is shown', async () => {
  await using world = await openRunWorld();
  const { key } = await world.addStack(settings);
  await change(world, 'a1', ['docs/a']);
  expect(world.unaffected).toEqual([{ stack: key, commit: 'a1', type: 'PROPOSED', reason }]);
});

test('nothing is shown for a stack that does not ask for it, nor for what is not its business at all', async () => {
  await using world = await openRunWorld();
  await world.addStack({ projectRoot: 'infra' });
  await world.addStack({ ...settings, branch: 'release' });
  await change(world, 'a1', ['docs/a']);
  await world.push('a2', { branch: 'release', paths: ['infra/a'] });
  expect(world.unaffected).toEqual([]);
});

test('nothing is shown when another event has made a run of the commit', async () => {
  await using world = await openRunWorld();
  await world.addStack(settings);
  // All commits of the pull request together change the stack; the last push alone does not.
  await change(world, 'a1', ['infra/a', 'docs/a']);
  await world.push('a1', { branch: 'topic', paths: ['docs/a'] });
  expect(world.unaffected).toEqual([]);
});
