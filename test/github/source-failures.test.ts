import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGithubSource } from '../../src/github/source.ts';
import { listProcesses, openSource, rejection, startListingWeb } from './source-support.ts';
import { eventually, silent } from './support.ts';

describe('a fetch that fails', () => {
  test('says that a commit is gone', async () => {
    await using all = await openSource();

    const error = await rejection(all.fetch('f'.repeat(40)));

    expect(error).toMatchObject({
      code: 'source-unavailable',
      message: 'The commit is no longer in the repository.',
    });
    expect(error.hint).toContain('forced push');
  });

  test('says that the App lost access', async () => {
    await using all = await openSource();
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
    await using all = await openSource();
    const sha = await all.commit('Two', { 'a.txt': 'two' });
    all.github.failNext({ pathPattern: /info\/refs$/, status, times: 3 });

    const error = await rejection(all.fetch(sha));

    expect(error.message).toBe(message);
    expect(String(error.cause)).not.toContain('ghs_');
  });

  test('says that GitHub cannot be reached', async () => {
    await using all = await openSource();
    const git = { ...all.git, webUrl: 'http://127.0.0.1:9' };
    const { app, apiUrl, ref, target } = all;
    const source = createGithubSource({ app, apiUrl, git, scratchDirectory: all.runDir, logger: silent });

    const error = await rejection(source.fetch(ref, 'a'.repeat(40), target, new AbortController().signal));

    expect(error.message).toBe('GitHub could not be reached by git.');
  });

  test('says that git is missing', async () => {
    await using all = await openSource();
    const { app, apiUrl, ref, target } = all;
    const git = { ...all.git, path: join(all.runDir, 'nothing-here') };
    const source = createGithubSource({ app, apiUrl, git, scratchDirectory: all.runDir, logger: silent });

    const error = await rejection(source.fetch(ref, 'a'.repeat(40), target, new AbortController().signal));

    expect(error.message).toBe('git could not be started on the server.');
  });

  test('takes nothing for a commit but a full hash', async () => {
    await using all = await openSource();
    for (const sha of ['main', '--upload-pack=touch x', 'abc1234']) {
      expect(await rejection(all.fetch(sha))).toMatchObject({ code: 'source-unavailable' });
    }
    expect(all.github.requests.filter(({ path }) => path.endsWith('/access_tokens'))).toEqual([]);
  });

  test('does not begin when it is told to end', async () => {
    await using all = await openSource();
    const sha = await all.commit('Two', { 'a.txt': 'two' });

    const aborted = AbortSignal.abort(new Error('the lease is lost'));

    await expect(all.fetch(sha, aborted)).rejects.toThrow('the lease is lost');
  });

  test('ends in the middle when it is told to, with every process of it', async () => {
    await using all = await openSource();
    const { app, apiUrl, ref, target } = all;
    const stop = new AbortController();
    // It never answers: git would wait.
    await using web = await startListingWeb(() => stop.abort(new Error('the lease is lost')));
    const git = { ...all.git, webUrl: web.url };
    const source = createGithubSource({ app, apiUrl, git, scratchDirectory: all.runDir, logger: silent });

    const work = source.fetch(ref, 'a'.repeat(40), target, stop.signal);

    await expect(work).rejects.toThrow('the lease is lost');
    await eventually(() => expect(listProcesses().filter((line) => line.includes(web.url))).toEqual([]));
    expect(all.github.requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/installation/token' });
  });
});
