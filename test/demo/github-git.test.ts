import { mkdtemp, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { execa } from 'execa';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { octokitFor, startGithub } from './stand-in.ts';

/** As the product does it: `init`, one shallow fetch of the exact commit, checkout; the token in no file. */
async function checkOut(url: string, sha: string, token: string | null) {
  const dir = await mkdtemp(join(tmpdir(), 'checkout-'));
  const header = `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
  const credentials = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: header,
  };
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    ...(token === null ? {} : credentials),
  };
  const git = (...args: string[]) =>
    execa('git', args, { cwd: dir, env, extendEnv: false, reject: false, all: true });
  await git('init', '--quiet', '--template=');
  const fetched = await git('fetch', '--quiet', '--depth', '1', url, sha);
  const checkedOut = await git('checkout', '--quiet', '--detach', 'FETCH_HEAD');
  const ok = fetched.exitCode === 0 && checkedOut.exitCode === 0;
  return {
    dir,
    ok,
    said: fetched.all,
    log: ok ? (await git('log', '--format=%H')).stdout : '',
    async [Symbol.asyncDispose](): Promise<void> {
      await rm(dir, { recursive: true });
    },
  };
}

async function startTwoRepositories() {
  const started = await startGithub();
  const { github, installation } = started;
  const infra = await github.addRepository({ owner: 'acme', name: 'infra' });
  const other = await github.addRepository({ owner: 'acme', name: 'other', files: { a: 'a' } });
  const app = await octokitFor(github.url);
  const mint = async (permissions: { contents?: 'read'; checks?: 'read' }): Promise<string> => {
    const narrow = { installation_id: installation.id, repository_ids: [infra.id], permissions };
    return (await app.rest.apps.createInstallationAccessToken(narrow)).data.token;
  };
  return { ...started, infra, other, mint, token: await mint({ contents: 'read' }) };
}

test('Git fetches exactly the commit asked for, although no branch is there any more', async () => {
  await using started = await startTwoRepositories();
  const { github, infra, token } = started;
  await github.commit(infra, { branch: 'main', message: 'one', files: { 'a.txt': 'old' } });
  const sha = await github.commit(infra, {
    branch: 'main',
    message: 'two',
    files: { 'a.txt': 'new', 'bin/run': '#!/bin/sh\n', 'big.bin': Buffer.alloc(3_000_000, 'slipway') },
    executable: ['bin/run'],
    symlinks: { link: 'a.txt' },
  });
  await github.setBranch(infra, 'main', 'main~1');

  await using checkout = await checkOut(`${github.url}/acme/infra.git`, sha, token);
  expect(checkout).toMatchObject({ ok: true, log: sha });
  expect(await readFile(join(checkout.dir, 'a.txt'), 'utf8')).toBe('new');
  expect(await readlink(join(checkout.dir, 'link'))).toBe('a.txt');
  expect((await stat(join(checkout.dir, 'bin/run'))).mode & 0o111).not.toBe(0);
  expect((await stat(join(checkout.dir, 'big.bin'))).size).toBe(3_000_000);
  const asked = github.requests.filter((each) => each.path.startsWith('/acme/infra.git/'));
  expect(asked.map(({ method, status, authKind }) => [method, status, authKind])).toEqual(
    asked.map(({ method }) => [method, 200, 'installation']),
  );
});

test('Git is refused with a wrong token, none, one for another repository, or one without contents', async () => {
  await using started = await startTwoRepositories();
  const { github, infra, other, mint, token } = started;
  const sha = await github.commit(infra, { branch: 'main', message: 'one', files: { a: 'a' } });
  const otherSha = other.announced.get('refs/heads/main') ?? '';
  const attempts = [
    ['infra', sha, 'ghs_wrong', /Authentication failed|could not read Username/],
    ['infra', sha, null, /could not read Username/],
    ['other', otherSha, token, /Repository not found/],
    ['nothing', sha, token, /Repository not found/],
    ['infra', sha, await mint({ checks: 'read' }), /not granted/],
  ] as const;
  for (const [name, commit, credential, said] of attempts) {
    await using checkout = await checkOut(`${github.url}/acme/${name}.git`, commit, credential);
    expect(checkout.ok).toBe(false);
    expect(checkout.said).toMatch(said);
  }
});

test('a public repository is read without a token', async () => {
  await using started = await startGithub();
  const repo = await started.github.addRepository({
    owner: 'acme',
    name: 'open',
    private: false,
    files: { a: 'a' },
  });
  const sha = repo.announced.get('refs/heads/main') ?? '';
  await using checkout = await checkOut(`${started.github.url}/acme/open.git`, sha, null);
  expect(checkout).toMatchObject({ ok: true, log: sha });
});

test('nobody pushes over HTTP', async () => {
  await using started = await startTwoRepositories();
  const { github, infra, token } = started;
  const sha = await github.commit(infra, { branch: 'main', message: 'one', files: { a: 'a' } });
  const url = `${github.url}/acme/infra.git`.replace('//', `//x-access-token:${token}@`);
  const env = { PATH: process.env['PATH'] ?? '', GIT_TERMINAL_PROMPT: '0' };
  const options = { cwd: infra.gitDir, env, extendEnv: false, reject: false, all: true } as const;
  const pushed = await execa('git', ['push', url, `${sha}:refs/heads/mine`], options);
  expect(pushed.exitCode).not.toBe(0);
  expect(pushed.all).toContain('Write access to repository not granted');
});

test('an ordered failure meets Git too', async () => {
  await using started = await startTwoRepositories();
  const { github, infra, token } = started;
  const sha = await github.commit(infra, { branch: 'main', message: 'one', files: { a: 'a' } });
  github.failNext({ pathPattern: /\.git\/info\/refs$/, status: 503, times: 1 });
  await using first = await checkOut(`${github.url}/acme/infra.git`, sha, token);
  await using second = await checkOut(`${github.url}/acme/infra.git`, sha, token);
  expect([first.ok, second.ok]).toEqual([false, true]);
});

test('a compressed request without a length is understood', async () => {
  await using started = await startTwoRepositories();
  const { github, infra, token } = started;
  const sha = await github.commit(infra, { branch: 'main', message: 'one', files: { a: 'a' } });
  // What Git sends once a request outgrows its buffer: chunked and gzipped.
  const lines = `${['0014command=ls-refs\n', '0001', '0009peel\n'].join('')}0000`;
  const answer = await request(`${github.url}/acme/infra.git/git-upload-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
      'content-type': 'application/x-git-upload-pack-request',
      'content-encoding': 'gzip',
      'git-protocol': 'version=2',
    },
    body: Readable.from([gzipSync(lines)]),
  });
  expect(await answer.body.text()).toContain(`${sha} refs/heads/main`);
});
