import { describe, expect, test } from 'vitest';
import { gitFailure } from '../../src/github/git-errors.ts';
import { openSource, rejection } from './source-support.ts';

describe('resolving a commit', () => {
  test('gives the head of a branch as payloads show it', async () => {
    await using all = await openSource();
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
    await using all = await openSource();
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
    await using all = await openSource();
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
    await using all = await openSource();
    const empty = await all.github.addRepository({ owner: 'acme', name: 'empty' });

    expect(
      await all.source.resolve({ ...all.ref, id: empty.id, fullName: 'acme/empty' }, 'main', null),
    ).toBeNull();
  });

  test('says so when GitHub does not answer', async () => {
    await using all = await openSource();
    all.github.failNext({ pathPattern: /\/branches\//, status: 502 });

    expect(await rejection(all.source.resolve(all.ref, 'main', null))).toMatchObject({
      code: 'github-unavailable',
    });
  });
});

describe('comparing two commits', () => {
  test('says where the second stands as seen from the first', async () => {
    await using all = await openSource();
    const { source, ref } = all;
    const one = await all.commit('One', { b: '1' });
    const two = await all.commit('Two', { b: '2' });
    await all.github.setBranch(all.infra, 'topic', one);
    const aside = await all.commit('Aside', { c: '1' }, 'topic');

    const asked = [
      [one, two],
      [two, one],
      [two, aside],
      [two, two],
      [two, 'f'.repeat(40)],
      ['f'.repeat(40), two],
    ].map(([base = '', head = '']) => source.compare(ref, base, head));

    expect(await Promise.all(asked)).toEqual(['ahead', 'behind', 'diverged', 'identical', null, null]);
  });

  test('says so when GitHub does not answer', async () => {
    await using all = await openSource();
    all.github.failNext({ pathPattern: /\/compare\//, status: 502 });
    const asked = all.source.compare(all.ref, 'a'.repeat(40), 'b'.repeat(40));
    expect(await rejection(asked)).toMatchObject({ code: 'github-unavailable' });
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
