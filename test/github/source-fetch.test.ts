import { lstat, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { createGithubSource } from '../../src/github/source.ts';
import { openSource, rejection, startListingWeb } from './source-support.ts';
import { silent } from './support.ts';

describe('fetching a commit', () => {
  test('puts exactly that commit on disk, also when the branch has moved on', async () => {
    await using all = await openSource();
    const wanted = await all.commit('Two', { 'a.txt': 'two', 'dir/b.txt': 'b' });
    await all.commit('Three', { 'a.txt': 'three' });

    await all.fetch(wanted);

    const { workTree, gitDir } = all.target;
    expect(await readFile(join(workTree, 'a.txt'), 'utf8')).toBe('two');
    expect(await readdir(workTree)).toEqual(['a.txt', 'dir']);
    const log = await execa('git', [`--git-dir=${gitDir}`, 'log', '--format=%H'], { stdin: 'ignore' });
    expect(log.stdout).toBe(wanted);
  });

  test('leaves a git directory that tools can use through a .git file', async () => {
    await using all = await openSource();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    await all.fetch(sha);
    const { workTree, gitDir } = all.target;
    await writeFile(join(workTree, '.git'), `gitdir: ${gitDir}\n`);

    const env = { PATH: all.git.path, GIT_CONFIG_COUNT: '1' };
    const explicit = { GIT_CONFIG_KEY_0: 'safe.bareRepository', GIT_CONFIG_VALUE_0: 'explicit' };
    const options = { cwd: workTree, env: { ...env, ...explicit }, extendEnv: false };
    const status = await execa('git', ['status', '--porcelain'], options);
    const head = await execa('git', ['rev-parse', 'HEAD'], options);

    expect(status.stdout).toBe('');
    expect(head.stdout).toBe(sha);
    expect(await readFile(join(gitDir, 'config'), 'utf8')).not.toContain(workTree);
  });

  test('asks for a token that reads this repository only, and gives it back', async () => {
    await using all = await openSource();
    const sha = await all.commit('Two', { 'a.txt': 'two' });

    await all.fetch(sha);

    const { requests } = all.github;
    const minted = requests.filter(({ path }) => path.endsWith('/access_tokens'));
    expect(minted.map(({ body }) => body)).toEqual([
      { repository_ids: [all.infra.id], permissions: { contents: 'read' } },
    ]);
    expect(requests.filter(({ method }) => method === 'DELETE')).toMatchObject([
      { path: '/installation/token', status: 204 },
    ]);
  });

  test('leaves the token in no file and no log line', async () => {
    await using all = await openSource();
    const sha = await all.commit('Two', { 'a.txt': 'two' });

    await all.fetch(sha);

    for (const text of [...all.lines, await everythingBelow(all.runDir)]) expectNoToken(text);
  });

  test('gives the token to GitHub and shows it to nobody who lists processes', async () => {
    await using all = await openSource();
    const { app, apiUrl, ref, target } = all;
    await using web = await startListingWeb();
    const git = { ...all.git, webUrl: web.url };
    const source = createGithubSource({ app, apiUrl, git, scratchDirectory: all.runDir, logger: silent });

    await rejection(source.fetch(ref, 'a'.repeat(40), target, new AbortController().signal));

    const { authorization, processes } = web.seen;
    const credential = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    expect(credential).toMatch(/^x-access-token:ghs_/);
    // The git that was started, and the helper that it started for HTTP.
    expect(processes.filter((line) => line.includes(web.url)).length).toBeGreaterThanOrEqual(2);
    for (const line of processes) expectNoToken(line);
  });

  test('follows a repository to its new name', async () => {
    await using all = await openSource();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    await all.github.renameRepository(all.infra, 'infrastructure');

    await all.fetch(sha);

    expect(await readFile(join(all.target.workTree, 'a.txt'), 'utf8')).toBe('two');
  });

  test('runs nothing that a hostile repository brings along', async () => {
    await using all = await openSource();
    const marker = join(all.runDir, 'ran');
    const config = `[core]\n\tfsmonitor = "touch ${marker}; false"\n\trepositoryformatversion = 0\n\tbare = true\n`;
    const sha = await all.github.commit(all.infra, {
      branch: 'main',
      message: 'Evil',
      files: {
        'bare/HEAD': 'ref: refs/heads/main\n',
        'bare/config': config,
        'bare/objects/.keep': '',
        'bare/refs/.keep': '',
        'bare/hooks/post-checkout': `#!/bin/sh\ntouch ${marker}\n`,
        '.gitattributes': '* filter=evil diff=evil merge=evil\n',
        '.gitconfig': `[filter "evil"]\n\tsmudge = touch ${marker}\n\tprocess = touch ${marker}\n`,
        '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ${marker}"\n\tupdate = !touch ${marker}\n`,
      },
      executable: ['bare/hooks/post-checkout'],
      symlinks: { 'etc-passwd': '/etc/passwd', 'outside/up': '../../../git/config', 'to-git': '../git' },
    });

    await all.fetch(sha);

    const { workTree } = all.target;
    await expect(lstat(marker)).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await lstat(join(workTree, 'etc-passwd'))).isSymbolicLink()).toBe(true);
    expect(await readlink(join(workTree, 'to-git'))).toBe('../git');
    const gitFiles = await readdir(all.target.gitDir);
    expect(gitFiles).not.toContain('hooks');
    expect(await readFile(join(all.target.gitDir, 'config'), 'utf8')).not.toContain('fsmonitor');
  });
});

function expectNoToken(text: string): void {
  expect(text).not.toMatch(/ghs_[A-Za-z0-9]|x-access-token:|Authorization: /i);
  expect(text).not.toContain(Buffer.from('x-access-token:').toString('base64').slice(0, 18));
}

async function everythingBelow(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  );
  expect(contents.length).toBeGreaterThan(5);
  return contents.join('\n');
}

describe('fetching the head of a pull request', () => {
  async function withFork() {
    const all = await openSource();
    const { github, infra } = all;
    github.addUser({ login: 'mallory', name: 'Mallory', email: 'mallory@example.com' });
    const fork = await github.addRepository({ owner: 'mallory', name: 'infra', forkOf: infra });
    const sha = await github.commit(fork, {
      branch: 'patch',
      message: 'x',
      files: { 'fork.txt': 'of a fork' },
    });
    await github.openPullRequest(infra, { head: 'patch', headRepository: fork });
    return { ...all, fork, sha, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
  }

  test('takes the commit of a fork from the base repository, with a token for that alone', async () => {
    await using all = await withFork();
    await all.fetch(all.sha);

    expect(await readFile(join(all.target.workTree, 'fork.txt'), 'utf8')).toBe('of a fork');
    const { requests } = all.github;
    const git = requests.filter(({ path }) => path.includes('.git/')).map(({ path }) => path);
    expect(git.length).toBeGreaterThan(0);
    expect(git.filter((path) => !path.startsWith('/acme/infra.git/'))).toEqual([]);
  });

  test('works when its branch was deleted meanwhile, and the pull request closed with it', async () => {
    await using all = await withFork();
    await all.github.push(all.fork, { branch: 'patch' });
    await all.github.deleteBranch(all.fork, { branch: 'patch' });
    await all.fetch(all.sha);
    expect(await readFile(join(all.target.workTree, 'fork.txt'), 'utf8')).toBe('of a fork');
  });
});
