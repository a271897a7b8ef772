import { expect, test } from 'vitest';
import { octokitFor, startGithub } from './stand-in.ts';

const infra = { owner: 'acme', repo: 'infra' };

async function startRepository() {
  const started = await startGithub();
  const repo = await started.github.addRepository({ owner: 'acme', name: 'infra' });
  const octokit = await octokitFor(started.github.url, started.installation.id);
  return { ...started, repo, octokit };
}

test('a commit carries the real data, and its author when the address is known', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  const author = { name: 'Somebody', email: 'somebody@example.net' };
  const known = await github.commit(repo, { branch: 'main', message: 'one', files: { 'a.txt': '1\n2\n' } });
  const unknown = await github.commit(repo, {
    branch: 'main',
    message: 'two\n\nwith a body',
    author,
    files: { 'a.txt': null, 'run.sh': '#!/bin/sh\n' },
    executable: ['run.sh'],
    symlinks: { link: '/etc/passwd' },
    date: new Date('2026-01-02T03:04:05Z'),
  });

  const first = await octokit.rest.repos.getCommit({ ...infra, ref: known });
  expect(first.data).toMatchObject({
    sha: known,
    author: { login: 'ada' },
    parents: [],
    stats: { additions: 2 },
  });
  const second = await octokit.rest.repos.getCommit({ ...infra, ref: 'main' });
  expect(second.data).toMatchObject({
    sha: unknown,
    author: null,
    parents: [{ sha: known }],
    commit: { message: 'two\n\nwith a body', author: { ...author, date: '2026-01-02T03:04:05Z' } },
    html_url: `${github.url}/acme/infra/commit/${unknown}`,
  });
  expect(second.data.files?.map(({ filename, status }) => [filename, status])).toEqual([
    ['a.txt', 'removed'],
    ['link', 'added'],
    ['run.sh', 'added'],
  ]);
  await expect(octokit.rest.repos.getCommit({ ...infra, ref: 'nothing' })).rejects.toMatchObject({
    status: 422,
  });
});

test('branches with slashes are found, and refs that are not are 404', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  await github.commit(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  const sha = await github.commit(repo, { branch: 'feature/x', message: 'two', files: { b: 'b' } });

  const branch = await octokit.rest.repos.getBranch({ ...infra, branch: 'feature/x' });
  expect(branch.data).toMatchObject({ name: 'feature/x', commit: { sha } });
  const ref = await octokit.rest.git.getRef({ ...infra, ref: 'heads/feature/x' });
  expect(ref.data).toMatchObject({ ref: 'refs/heads/feature/x', object: { sha, type: 'commit' } });
  expect((await octokit.rest.repos.getCommit({ ...infra, ref: 'feature/x' })).data.sha).toBe(sha);
  await expect(octokit.rest.repos.getBranch({ ...infra, branch: 'feature' })).rejects.toMatchObject({
    status: 404,
  });
  await expect(octokit.rest.git.getRef({ ...infra, ref: 'heads/none' })).rejects.toMatchObject({
    status: 404,
  });
});

test('a comparison says how two commits stand to each other and what changed since they parted', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  const base = await github.commit(repo, {
    branch: 'main',
    message: 'one',
    files: { 'old.txt': 'same\nsame\n' },
  });
  await github.commit(repo, {
    branch: 'feature/x',
    message: 'two',
    files: { 'old.txt': null, 'new.txt': 'same\nsame\n', 'dir/b.txt': 'b\n' },
  });
  const compare = async (basehead: string) =>
    (await octokit.rest.repos.compareCommitsWithBasehead({ ...infra, basehead })).data;

  expect(await compare(`${base}...main`)).toMatchObject({ status: 'identical', files: [] });
  expect(await compare('feature/x...main')).toMatchObject({ status: 'behind', ahead_by: 0, behind_by: 1 });
  const ahead = await compare(`${base}...feature/x`);
  expect(ahead).toMatchObject({
    status: 'ahead',
    ahead_by: 1,
    total_commits: 1,
    merge_base_commit: { sha: base },
  });
  expect(ahead.files).toMatchObject([
    { filename: 'dir/b.txt', status: 'added', additions: 1, deletions: 0 },
    { filename: 'new.txt', status: 'renamed', previous_filename: 'old.txt', changes: 0 },
  ]);
  await github.commit(repo, { branch: 'main', message: 'three', files: { c: 'c' } });
  const diverged = await compare('main...feature/x');
  expect(diverged).toMatchObject({ status: 'diverged', ahead_by: 1, behind_by: 1 });
  expect(diverged.files?.map((file) => file.filename)).toEqual(['dir/b.txt', 'new.txt']);
  await expect(compare('main...nothing')).rejects.toMatchObject({ status: 404 });
});

test('a link, a submodule and a directory show what they are in a listing only', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  await github.commit(repo, {
    branch: 'main',
    message: 'one',
    files: { 'd/plain.txt': 'text\n', 'd/sub/x': 'x' },
    symlinks: { 'd/link': 'plain.txt', 'd/out': '../../etc/passwd', 'd/abs': '/etc/passwd' },
    submodules: { 'd/module': 'c'.repeat(40) },
  });
  const get = async (path: string) => (await octokit.rest.repos.getContent({ ...infra, path })).data;

  const listing = await get('d');
  if (!Array.isArray(listing)) throw new Error('not a directory');
  expect(Object.fromEntries(listing.map(({ name, type }) => [name, type]))).toEqual({
    ...{ abs: 'symlink', link: 'symlink', module: 'file', out: 'symlink', 'plain.txt': 'file', sub: 'dir' },
  });
  // GitHub follows a link to a file of the repository, and does not say so.
  expect(await get('d/link')).toMatchObject({ type: 'file', path: 'd/link', content: 'dGV4dAo=\n' });
  expect(await get('d/out')).toMatchObject({ type: 'symlink' });

  const blob = (name: string) => listing.find((each) => each.name === name)?.sha ?? '';
  const file = await octokit.rest.git.getBlob({ ...infra, file_sha: blob('plain.txt') });
  expect(file.data).toMatchObject({ content: 'dGV4dAo=\n', encoding: 'base64', size: 5 });
  for (const name of ['module', 'sub']) {
    const asked = octokit.rest.git.getBlob({ ...infra, file_sha: blob(name) });
    await expect(asked).rejects.toMatchObject({ status: 404 });
  }
  await expect(octokit.rest.git.getBlob({ ...infra, file_sha: 'main' })).rejects.toMatchObject({
    status: 422,
  });
});

test('another default branch is what everybody sees by default', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  await github.commit(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  await github.commit(repo, { branch: 'next', message: 'two', files: { b: 'b' } });

  await github.setDefaultBranch(repo, 'next');

  expect((await octokit.rest.repos.get(infra)).data.default_branch).toBe('next');
  const root = (await octokit.rest.repos.getContent({ ...infra, path: '' })).data;
  expect(root).toMatchObject([{ name: 'a' }, { name: 'b' }]);
});

test('a former name leads to the repository until another takes it', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  await github.renameRepository(repo, 'renamed');
  expect((await octokit.rest.repos.get(infra)).data.id).toBe(repo.id);

  const other = await github.addRepository({ owner: 'acme', name: 'infra' });

  expect((await octokit.rest.repos.get(infra)).data.id).toBe(other.id);
  await expect(github.addRepository({ owner: 'acme', name: 'Infra' })).rejects.toThrow('exists already');
});

test('contents come as JSON, raw, or as a directory, from any ref', async () => {
  await using started = await startRepository();
  const { github, repo, octokit } = started;
  const text = 'version: 1\nstacks: []\n'.repeat(10);
  await github.commit(repo, {
    branch: 'main',
    message: 'one',
    files: { '.github/slipway.yml': text, 'a b.txt': '' },
  });
  await github.commit(repo, {
    branch: 'next',
    message: 'two',
    files: { '.github/slipway.yml': 'version: 2\n' },
  });
  const path = '.github/slipway.yml';

  const file = (await octokit.rest.repos.getContent({ ...infra, path })).data;
  if (Array.isArray(file) || file.type !== 'file') throw new Error('not a file');
  expect(Buffer.from(file.content, 'base64').toString()).toBe(text);
  const raw = await octokit.rest.repos.getContent({
    ...infra,
    path,
    ref: 'next',
    mediaType: { format: 'raw' },
  });
  expect(raw.data).toBe('version: 2\n');
  const root = await octokit.rest.repos.getContent({ ...infra, path: '' });
  expect(root.data).toMatchObject([
    { name: '.github', type: 'dir' },
    { name: 'a b.txt', type: 'file', size: 0 },
  ]);
  await expect(octokit.rest.repos.getContent({ ...infra, path: 'no' })).rejects.toMatchObject({
    status: 404,
  });
});
