import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGithubSource } from '../../src/github/source.ts';
import { openSource, rejection } from './source-support.ts';

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`many/é ${at}.txt`, `${at}`]));
const tokensOf = (all: Awaited<ReturnType<typeof openSource>>) =>
  all.github.requests.filter(({ path }) => path.endsWith('/access_tokens'));

describe('what a commit changed', () => {
  test('is what it has since it left the branch, not what the branch has since', async () => {
    await using all = await openSource();
    const text = 'enough of a text for a move to be seen as one\n'.repeat(20);
    await all.commit('Text', { 'old.txt': text });
    await all.commit('Add', { 'b/new.txt': '1' }, 'topic/x');
    const head = await all.commit('Move', { 'old.txt': null, 'moved.txt': text }, 'topic/x');
    await all.commit('Elsewhere', { 'a.txt': 'two' });

    const paths = await all.source.changedPaths(all.ref, 'main', head);

    expect(paths?.toSorted()).toEqual(['b/new.txt', 'moved.txt', 'old.txt']);
    // One request sufficed.
    expect(all.github.requests.filter(({ path }) => path.includes('.git/'))).toEqual([]);
  });

  test('is asked of git when GitHub may have cut its list, with a token for that alone', async () => {
    await using all = await openSource();
    const head = await all.commit('Many', { ...many(299), 'a.txt': null }, 'topic');
    await all.commit('Elsewhere', { 'elsewhere.txt': '' });
    const before = await all.source.changedPaths(all.ref, 'main', await all.commit('Fewer', many(299), 'x'));
    expect(tokensOf(all).filter(({ body }) => body !== null)).toEqual([]);

    const paths = await all.source.changedPaths(all.ref, 'main', head);

    expect(before).toHaveLength(299);
    expect(paths?.toSorted()).toEqual([...Object.keys(many(299)), 'a.txt'].toSorted());
    expect(tokensOf(all).flatMap(({ body }) => body ?? [])).toEqual([
      { repository_ids: [all.infra.id], permissions: { contents: 'read' } },
    ]);
    expect(all.github.requests.at(-1)).toMatchObject({ method: 'DELETE', status: 204 });
    expect(await readdir(join(all.runDir, 'scratch'))).toEqual([]);
    expect(all.lines.join('')).not.toContain('ghs_');
  });

  test('is nothing for a commit that the branch has', async () => {
    await using all = await openSource();
    const head = await all.commit('Two', { 'a.txt': 'two' });
    expect(await all.source.changedPaths(all.ref, 'main', head)).toEqual([]);
  });

  test.each([
    ['an unknown branch', 'nowhere', null],
    ['an unknown commit', 'main', 'a'.repeat(40)],
  ])('is not known for %s', async (_title, base, given) => {
    await using all = await openSource();
    const head = given ?? (await all.commit('Two', { 'a.txt': 'two' }));
    expect(await all.source.changedPaths(all.ref, base, head)).toBeNull();
  });

  test('is not known when git fails, and that is logged', async () => {
    await using all = await openSource();
    const head = await all.commit('Many', many(300), 'topic');
    const { app, apiUrl } = all;
    const git = { ...all.git, path: join(all.runDir, 'nothing-here') };
    const lines: string[] = [];
    const logger = { warn: (_: object, message: string) => void lines.push(message), debug: () => undefined };
    const scratchDirectory = join(all.runDir, 'scratch');
    const source = createGithubSource({ app, apiUrl, git, scratchDirectory, logger: logger as never });

    expect(await source.changedPaths(all.ref, 'main', head)).toBeNull();

    expect(lines).toEqual(['git could not tell what changed']);
    expect(await readdir(scratchDirectory)).toEqual([]);
  });

  test('has to wait while GitHub does not answer', async () => {
    await using all = await openSource();
    const head = await all.commit('Two', { 'a.txt': 'two' }, 'topic');
    all.github.failNext({ method: 'GET', pathPattern: /\/compare\//, status: 502 });
    expect(await rejection(all.source.changedPaths(all.ref, 'main', head))).toMatchObject({
      code: 'github-unavailable',
    });
  });
});
