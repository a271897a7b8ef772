import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { octokitFor, startPushing, webhookSecret } from './stand-in.ts';

const zeros = '0'.repeat(40);

test('a push tells the commits in between as Git has them, signed over the raw body', async () => {
  await using pushing = await startPushing();
  const { github, repo, receiver, installation } = pushing;
  const author = { name: 'Somebody', email: 'somebody@example.net' };
  const before = repo.announced.get('refs/heads/main');
  const one = await github.commit(repo, {
    branch: 'main',
    message: 'one',
    author,
    files: { 'a.txt': 'a', 'ü.txt': '' },
  });
  const two = await github.commit(repo, {
    branch: 'main',
    message: 'two',
    files: { 'a.txt': 'b', 'README.md': null, 'dir/c.txt': 'c' },
  });
  const sent = await github.push(repo, { branch: 'main', pusher: 'ada' });

  expect(sent.status).toBe(202);
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
  const hmac = (algorithm: string) => createHmac(algorithm, webhookSecret).update(body).digest('hex');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^GitHub-Hookshot\//),
    'x-github-event': 'push',
    'x-github-delivery': sent.deliveryId,
    'x-hub-signature': `sha1=${hmac('sha1')}`,
    'x-hub-signature-256': `sha256=${hmac('sha256')}`,
  });
  const ada = { name: 'Ada Lovelace', email: 'ada@example.com', username: 'ada' };
  const second = {
    id: two,
    distinct: true,
    author: ada,
    added: ['dir/c.txt'],
    removed: ['README.md'],
    modified: ['a.txt'],
  };
  expect(JSON.parse(body)).toMatchObject({
    ref: 'refs/heads/main',
    before,
    after: two,
    created: false,
    deleted: false,
    forced: false,
    base_ref: null,
    compare: `${github.url}/acme/infra/compare/${before?.slice(0, 12)}...${two.slice(0, 12)}`,
    commits: [{ id: one, author, added: ['a.txt', 'ü.txt'], message: 'one' }, second],
    head_commit: second,
    pusher: { name: 'ada', email: 'ada@example.com' },
    sender: { login: 'ada', type: 'User' },
    repository: {
      id: repo.id,
      full_name: 'acme/infra',
      default_branch: 'main',
      owner: { login: 'acme', name: 'acme' },
    },
    organization: { login: 'acme' },
    installation: { id: installation.id },
  });
  expect(JSON.parse(body).commits[0].author).not.toHaveProperty('username');
});

test('a new branch tells what no other branch had, a deleted one tells nothing but zeros', async () => {
  await using pushing = await startPushing();
  const { github, repo, last } = pushing;
  const main = repo.announced.get('refs/heads/main');
  const { sha } = await github.commitAndPush(repo, {
    branch: 'feature/x',
    message: 'one',
    files: { a: 'a' },
  });
  expect(last()).toMatchObject({
    before: zeros,
    after: sha,
    created: true,
    forced: false,
    commits: [{ id: sha }],
  });
  await github.setBranch(repo, 'again', 'feature/x');
  await github.push(repo, { branch: 'again' });
  expect(last()).toMatchObject({
    created: true,
    commits: [],
    head_commit: { id: sha },
    base_ref: 'refs/heads/feature/x',
  });
  await github.deleteBranch(repo, { branch: 'feature/x' });
  expect(last()).toMatchObject({ before: sha, after: zeros, deleted: true, commits: [], head_commit: null });
  expect(repo.announced.get('refs/heads/main')).toBe(main);
});

test('a forced push says so', async () => {
  await using pushing = await startPushing();
  const { github, repo, last } = pushing;
  const { sha: old } = await github.commitAndPush(repo, {
    branch: 'main',
    message: 'one',
    files: { a: 'a' },
  });
  await github.forcePush(repo, {
    branch: 'main',
    onto: 'main~1',
    commits: [{ message: 'two', files: { b: 'b' } }],
  });
  expect(last()).toMatchObject({
    before: old,
    created: false,
    forced: true,
    commits: [{ message: 'two', added: ['b'] }],
  });
});

test('tags have no commits, and an annotated one is not the commit', async () => {
  await using pushing = await startPushing();
  const { github, repo, last } = pushing;
  const head = repo.announced.get('refs/heads/main');
  await github.pushTag(repo, { tag: 'v1' });
  expect(last()).toMatchObject({ ref: 'refs/tags/v1', after: head, commits: [], head_commit: { id: head } });
  await github.pushTag(repo, { tag: 'v2', message: 'Version 2' });
  expect(last().after).not.toBe(head);
  expect(last()).toMatchObject({
    created: true,
    base_ref: 'refs/heads/main',
    commits: [],
    head_commit: { id: head },
  });
});

test('a pull request follows its branch, and its merge is pushed', async () => {
  await using pushing = await startPushing();
  const { github, repo, receiver, last } = pushing;
  await github.commit(repo, { branch: 'next', message: 'one', files: { 'a.txt': 'a' } });
  const { number } = await github.openPullRequest(repo, { head: 'next', title: 'Next' });
  const { sha } = await github.commitAndPush(repo, {
    branch: 'next',
    message: 'two',
    files: { 'b.txt': 'b' },
  });
  expect(last()).toMatchObject({
    action: 'synchronize',
    number,
    after: sha,
    pull_request: { head: { sha }, commits: 2 },
  });
  const merged = await github.mergePullRequest(repo, number);
  expect(receiver.received.map(({ body }) => JSON.parse(body).action ?? 'push')).toEqual([
    'opened',
    'push',
    'synchronize',
    'push',
    'closed',
  ]);
  expect(last()).toMatchObject({
    pull_request: { merged: true, merge_commit_sha: merged.sha, changed_files: 2, base: { ref: 'main' } },
  });
  const pushed = JSON.parse(receiver.received[3]?.body ?? '{}');
  expect(pushed).toMatchObject({
    ref: 'refs/heads/main',
    head_commit: { id: merged.sha, added: [], modified: [] },
  });
  expect(pushed.commits).toHaveLength(3);
});

test('a pull request from a fork brings its commits into the base repository', async () => {
  await using pushing = await startPushing();
  const { github, repo, installation } = pushing;
  github.addUser({ login: 'eve', name: 'Eve', email: 'eve@example.com' });
  const fork = await github.addRepository({ owner: 'eve', name: 'infra', forkOf: repo });
  const sha = await github.commit(fork, { branch: 'patch', message: 'one', files: { a: 'a' } });
  const { number } = await github.openPullRequest(repo, {
    head: 'patch',
    headRepository: fork,
    author: 'eve',
  });
  const octokit = await octokitFor(github.url, installation.id);
  const { data } = await octokit.rest.pulls.get({ owner: 'acme', repo: 'infra', pull_number: number });
  expect(data).toMatchObject({
    head: { sha, label: 'eve:patch', repo: { fork: true } },
    base: { ref: 'main' },
  });
  const compared = await octokit.rest.repos.compareCommitsWithBasehead({
    owner: 'acme',
    repo: 'infra',
    basehead: 'main...eve:patch',
  });
  expect(compared.data).toMatchObject({ status: 'ahead', files: [{ filename: 'a' }] });
});
