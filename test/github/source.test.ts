import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { gitFailure } from '../../src/github/git-errors.ts';
import { createGithubSource } from '../../src/github/source.ts';
import { createLogger } from '../../src/logger.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import { UserError } from '../../src/user-error.ts';
import { startGithub, tempDir } from './support.ts';

async function open() {
  const started = await startGithub();
  const { github, app, apiUrl, installation } = started;
  const run = await tempDir();
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line) => void lines.push(line) });
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { 'a.txt': 'one' } });
  const ref: Repository = {
    id: infra.id,
    accountId: infra.owner.id,
    installationId: installation.id,
    fullName: 'acme/infra',
    defaultBranch: 'main',
    isPrivate: true,
  };
  const target = { gitDir: join(run.path, 'git'), workTree: join(run.path, 'tree') };
  await mkdir(target.gitDir);
  await mkdir(target.workTree);
  const path = process.env['PATH'] ?? '';
  const git = { webUrl: github.url, path, caBundle: null };
  const never = new AbortController().signal;
  const source = createGithubSource({ app, apiUrl, git, logger });
  return {
    ...started,
    source,
    infra,
    ref,
    target,
    git,
    lines,
    runDir: run.path,
    fetch: (sha: string, signal = never) => source.fetch(ref, sha, target, signal),
    commit: (message: string, files: Record<string, string | null>, branch = 'main') =>
      github.commit(infra, { branch, message, files }),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await run[Symbol.asyncDispose]();
    },
  };
}

const rejection = async (work: Promise<unknown>): Promise<UserError> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UserError)) throw new Error('no UserError', { cause: error });
  return error;
};

describe('resolving a commit', () => {
  test('gives the head of a branch as payloads show it', async () => {
    await using all = await open();
    const date = new Date('2026-11-20T08:00:00Z');
    const commit = { branch: 'feature/a+b', message: 'Two\n\nWith a body', files: { b: '1' }, date };
    const sha = await all.github.commit(all.infra, commit);

    expect(await all.source.resolve(all.ref, 'feature/a+b', null)).toEqual({
      authorLogin: 'ada',
      authorName: 'Ada Lovelace',
      hash: sha,
      message: 'Two\n\nWith a body',
      timestamp: date.getTime() / 1000,
      url: `${all.github.url}/acme/infra/commit/${sha}`,
    });
  });

  test('accepts commits that can be reached from the branch, and short hashes of them', async () => {
    await using all = await open();
    const { source, ref } = all;
    const older = await all.commit('Two', { b: '1' });
    const head = await all.commit('Three', { b: '2' });

    const resolve = async (sha: string) => (await source.resolve(ref, 'main', sha))?.hash;
    expect([
      await resolve(head),
      await resolve(older),
      await resolve(older.slice(0, 8).toUpperCase()),
    ]).toEqual([head, older, older]);
  });

  test('finds nothing that is not on the branch', async () => {
    await using all = await open();
    const { github, infra, source, ref } = all;
    const elsewhere = await all.commit('On a branch', { c: '1' }, 'topic');
    await all.commit('Main goes on', { d: '1' });
    await github.setBranch(infra, 'abcdef1234', 'main');

    const resolve = (branch: string, sha: string | null) => source.resolve(ref, branch, sha);
    expect(await resolve('main', elsewhere)).toBeNull();
    expect(await resolve('main', 'f'.repeat(40))).toBeNull();
    expect(await resolve('main', 'topic')).toBeNull();
    expect(await resolve('main', 'abcdef1234')).toBeNull();
    expect(await resolve('nowhere', null)).toBeNull();
    expect(await resolve('', null)).toBeNull();
    expect((await resolve('topic', elsewhere))?.hash).toBe(elsewhere);
  });

  test('finds nothing in an empty repository', async () => {
    await using all = await open();
    const empty = await all.github.addRepository({ owner: 'acme', name: 'empty' });

    expect(
      await all.source.resolve({ ...all.ref, id: empty.id, fullName: 'acme/empty' }, 'main', null),
    ).toBeNull();
  });

  test('says so when GitHub does not answer', async () => {
    await using all = await open();
    all.github.failNext({ pathPattern: /\/branches\//, status: 502 });

    expect(await rejection(all.source.resolve(all.ref, 'main', null))).toMatchObject({
      code: 'github-unavailable',
    });
  });
});

describe('fetching a commit', () => {
  test('puts exactly that commit on disk, also when the branch has moved on', async () => {
    await using all = await open();
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
    await using all = await open();
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
    await using all = await open();
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

  test('leaves the token in no file, no argument and no log line', async () => {
    await using all = await open();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    const seen = watchForToken(all.github.url);

    await all.fetch(sha);

    const commandLines = await seen.stop();
    expect(commandLines.some((line) => line.includes('fetch'))).toBe(true);
    for (const text of [...commandLines, ...all.lines, await everythingBelow(all.runDir)]) {
      expect(text).not.toMatch(/ghs_|x-access-token|extraheader/i);
      expect(text).not.toContain(Buffer.from('x-access-token:').toString('base64').slice(0, 18));
    }
  });

  test('follows a repository to its new name', async () => {
    await using all = await open();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    await all.github.renameRepository(all.infra, 'infrastructure');

    await all.fetch(sha);

    expect(await readFile(join(all.target.workTree, 'a.txt'), 'utf8')).toBe('two');
  });

  test('runs nothing that a hostile repository brings along', async () => {
    await using all = await open();
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

  test('says that a commit is gone', async () => {
    await using all = await open();

    const error = await rejection(all.fetch('f'.repeat(40)));

    expect(error).toMatchObject({
      code: 'source-unavailable',
      message: 'The commit is no longer in the repository.',
    });
    expect(error.hint).toContain('forced push');
  });

  test('says that the App lost access', async () => {
    await using all = await open();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    await all.github.setInstalled(all.infra, false);

    const error = await rejection(all.fetch(sha));

    expect(error).toMatchObject({ code: 'source-unavailable' });
    expect(error.message).toBe('The GitHub App may not read acme/infra any more.');
  });

  test.each([
    [401, 'GitHub refused to give the repository out.'],
    [404, 'GitHub refused to give the repository out.'],
    [500, 'GitHub could not be reached by git.'],
  ])('says what a %i means to git, with the token in no part of the error', async (status, message) => {
    await using all = await open();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    all.github.failNext({ pathPattern: /info\/refs$/, status, times: 3 });

    const error = await rejection(all.fetch(sha));

    expect(error.message).toBe(message);
    expect(String(error.cause)).not.toContain('ghs_');
  });

  test('says that GitHub cannot be reached', async () => {
    await using all = await open();
    const git = { ...all.git, webUrl: 'http://127.0.0.1:9' };
    const { app, apiUrl, ref, target } = all;
    const source = createGithubSource({ app, apiUrl, git, logger: createLogger('silent') });

    const error = await rejection(source.fetch(ref, 'a'.repeat(40), target, new AbortController().signal));

    expect(error.message).toBe('GitHub could not be reached by git.');
  });

  test('says that git is missing', async () => {
    await using all = await open();
    const { app, apiUrl, ref, target } = all;
    const git = { ...all.git, path: join(all.runDir, 'nothing-here') };
    const source = createGithubSource({ app, apiUrl, git, logger: createLogger('silent') });

    const error = await rejection(source.fetch(ref, 'a'.repeat(40), target, new AbortController().signal));

    expect(error.message).toBe('git could not be started on the server.');
  });

  test('takes nothing for a commit but a full hash', async () => {
    await using all = await open();
    for (const sha of ['main', '--upload-pack=touch x', 'abc1234']) {
      expect(await rejection(all.fetch(sha))).toMatchObject({ code: 'source-unavailable' });
    }
    expect(all.github.requests.filter(({ path }) => path.endsWith('/access_tokens'))).toEqual([]);
  });

  test('ends at once when it is told to', async () => {
    await using all = await open();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    const stop = new AbortController();
    stop.abort(new Error('the lease is lost'));

    await expect(all.fetch(sha, stop.signal)).rejects.toThrow('the lease is lost');
  });
});

describe('the words of git', () => {
  test.each([
    ['fatal: remote error: upload-pack: not our ref ffff', 'no longer'],
    ["fatal: unable to access 'https://github.com/a/b.git/': Could not resolve host: github.com", 'reached'],
    [
      "fatal: unable to access 'https://ghe/a/b.git/': SSL certificate problem: unable to get local issuer certificate",
      'reached',
    ],
    ["fatal: Authentication failed for 'https://github.com/a/b.git/'", 'refused'],
    ["fatal: could not read Username for 'https://github.com': terminal prompts disabled", 'refused'],
    ["remote: Repository not found.\nfatal: repository 'https://github.com/a/b.git/' not found", 'refused'],
    ['fatal: write error: No space left on device', 'disk'],
    ['fatal: something new', 'could not fetch'],
  ])('%s', (stderr, part) => {
    expect(gitFailure(stderr, []).message).toContain(part);
  });

  test('are scrubbed of tokens, ours and others', () => {
    const ours = 'ghs_7_abc.def.ghi';
    const other = `ghp_${'x'.repeat(36)}`;

    const error = gitFailure(`fatal: ${ours} and ${other}`, [ours]);

    expect(String(error.cause)).toBe('Error: fatal: *** and ***');
  });
});

/** Reads the arguments of every process that names the address, again and again until told to stop. */
function watchForToken(address: string) {
  const found = new Set<string>();
  let isOn = true;
  const watching = (async () => {
    while (isOn) {
      for (const pid of await readdir('/proc')) {
        if (!/^\d+$/.test(pid)) continue;
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        if (line.includes(address) && line.includes('git')) found.add(line.replaceAll('\0', ' '));
      }
    }
  })();
  return {
    async stop(): Promise<string[]> {
      isOn = false;
      await watching;
      return [...found];
    },
  };
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
