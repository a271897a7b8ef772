import { expect, test } from 'vitest';
import { startGithub } from './stand-in.ts';

async function startQueue(...options: Parameters<typeof startGithub>) {
  const started = await startGithub(...options);
  const repo = await started.github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
  await started.github.commitAndPush(repo, { branch: 'topic', message: 'Two', files: { b: '2' } });
  const { number } = await started.github.openPullRequest(repo, { head: 'topic', title: 'Add b' });
  return { ...started, repo, number };
}

test.each(['push', 'merge_group'] as const)('what is queued is told twice, %s first', async (first) => {
  await using started = await startQueue();
  const { github, repo, number } = started;
  const before = github.deliveries.length;

  const group = await github.enqueue(repo, number, { first });

  const told = github.deliveries.slice(before);
  const second = first === 'push' ? 'merge_group' : 'push';
  expect(told.map(({ event }) => event)).toEqual([first, second]);
  const { branch, sha, baseSha } = group;
  expect(branch).toBe(`gh-readonly-queue/main/pr-${number}-${baseSha}`);
  expect(told.find(({ event }) => event === 'merge_group')?.payload).toMatchObject({
    action: 'checks_requested',
    merge_group: {
      ...{ head_sha: sha, head_ref: `refs/heads/${branch}`, base_sha: baseSha, base_ref: 'refs/heads/main' },
      head_commit: {
        id: sha,
        message: expect.stringContaining(`#${number}`),
        author: { name: 'Ada Lovelace' },
      },
    },
    sender: { login: 'github-merge-queue[bot]', type: 'Bot' },
  });
  expect(told.find(({ event }) => event === 'push')?.payload).toMatchObject({
    ...{ ref: `refs/heads/${branch}`, after: sha, created: true },
    sender: { login: 'github-merge-queue[bot]' },
  });
});

test('a group that is gone is told with the reason, and its branch goes too', async () => {
  await using started = await startQueue();
  const { github, repo, number } = started;
  const group = await github.enqueue(repo, number);
  const before = github.deliveries.length;

  await github.destroyMergeGroup(group, 'invalidated');

  expect(github.deliveries.slice(before).map(({ event, payload }) => [event, payload['reason']])).toEqual([
    ['merge_group', 'invalidated'],
    ['push', undefined],
  ]);
});

test('an App that may not read merge queues is told of the push alone', async () => {
  const permissions = { metadata: 'read', contents: 'read' } as const;
  await using started = await startQueue({ app: { permissions, events: ['push', 'merge_group'] } });
  const { github, repo, number } = started;
  const before = github.deliveries.length;
  await github.enqueue(repo, number);
  expect(github.deliveries.slice(before).map(({ event }) => event)).toEqual(['push']);
});
