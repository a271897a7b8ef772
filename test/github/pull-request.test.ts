import { describe, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import { parsePullRequest } from '../../src/github/pull-request-reader.ts';
import { startReceiving } from './receiving.ts';
import { eventually } from './support.ts';

/** A repository with a branch `topic` that changes one file. */
async function startWithTopic(options: { readonly isJudged?: boolean } = {}) {
  const all = await startReceiving(options);
  const { github, inboxStore } = all;
  github.addUser({ login: 'bob', name: 'Bob Kahn', email: 'bob@example.com' });
  const repository = await github.addRepository({
    ...{ owner: 'acme', name: 'infra', files: { 'infra/a.txt': 'one\ntwo\nthree\n', 'docs/x.md': 'x' } },
  });
  const head = await github.commit(repository, {
    ...{ branch: 'topic', message: 'Change a\n\nWith a body', files: { 'infra/a.txt': '2' } },
  });

  /** What came of a delivery in the end. */
  const outcome = (deliveryId: string) =>
    eventually(async () => {
      const row = await inboxStore.find(deliveryId);
      expect(row?.state).not.toBe('pending');
      return { state: row?.state, note: row?.note };
    });
  const open = (change: Partial<Parameters<typeof github.openPullRequest>[1]> = {}) =>
    github.openPullRequest(repository, { head: 'topic', title: 'Change it', author: 'bob', ...change });
  const push = (files: Record<string, string | null>, from = repository) =>
    github.commitAndPush(from, { branch: 'topic', message: 'More', files });
  /** A delivery that comes (again) now, as if it had been late. */
  const late = (deliveryId: string, change: Record<string, unknown> = {}) => {
    const sent = github.deliveries.find(({ guid }) => guid === deliveryId);
    const body = Buffer.from(JSON.stringify({ ...sent?.payload, ...change }));
    return all.handle({
      ...{ id: 'late', event: 'pull_request', body, attempt: 1, lane: 'x', receivedAtMs: all.clock.ms },
    });
  };
  const dispose = () => all[Symbol.asyncDispose]();
  return { ...all, repository, head, outcome, open, push, late, [Symbol.asyncDispose]: dispose };
}

async function startWithFork() {
  const all = await startWithTopic();
  all.github.addUser({ login: 'mallory', name: 'Mallory', email: 'mallory@example.com' });
  const headRepository: Repository = await all.github.addRepository({
    ...{ owner: 'mallory', name: 'infra', forkOf: all.repository },
  });
  const sha = await all.github.commit(headRepository, {
    ...{ branch: 'main', message: 'From a fork', files: { 'infra/evil.txt': '1' } },
  });
  return { ...all, headRepository, sha, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

describe('a pull request that GitHub tells', () => {
  test('reaches the product with its head commit, its paths and who did it', async () => {
    await using all = await startWithTopic();
    const { github, repository, head } = all;

    const sent = await all.open();

    expect(await all.outcome(sent.deliveryId)).toEqual({ state: 'done', note: 'network: previewed' });
    expect(all.changes).toEqual([
      {
        change: {
          repositoryId: repository.id,
          pullRequest: {
            ...{ number: sent.number, base: 'main', title: 'Change it', author: 'bob', isFork: false },
          },
          branch: 'topic',
          headHash: head,
          isDraft: false,
          details: {
            ...{ action: 'opened', state: 'open', labels: [], isMergeable: true },
            headOwner: 'acme',
          },
          sender: { login: 'bob', email: expect.stringMatching(/^\d+\+bob@users\.noreply\.github\.com$/) },
        },
        content: {
          head: {
            ...{ authorLogin: 'ada', authorName: 'Ada Lovelace', hash: head },
            message: 'Change a\n\nWith a body',
            timestamp: expect.any(Number),
            url: `${github.url}/acme/infra/commit/${head}`,
          },
          changedPaths: ['infra/a.txt'],
          bots: [],
        },
      },
    ]);
  });

  test('changes what all of its commits change, from where it left its base, moved files twice', async () => {
    await using all = await startWithTopic();
    const { github, repository } = all;
    await github.commit(repository, { branch: 'main', message: 'Beside', files: { 'docs/x.md': 'y' } });
    const text = 'a long text that is recognised when the file is moved\n'.repeat(20);
    await github.commit(repository, { branch: 'topic', message: 'Add', files: { 'dns/é 1.txt': '1' } });
    await github.commit(repository, { branch: 'main', message: 'Text', files: { 'net/old.txt': text } });
    await github.setBranch(repository, 'moving', 'main');
    await github.commit(repository, {
      ...{ branch: 'moving', message: 'Move', files: { 'net/old.txt': null, 'dns/new.txt': text } },
    });

    await all.outcome((await all.open()).deliveryId);
    await all.outcome((await all.open({ head: 'moving' })).deliveryId);

    const paths = all.changes.map(({ content }) => content.changedPaths?.toSorted());
    expect(paths).toEqual([
      ['dns/é 1.txt', 'infra/a.txt'],
      ['dns/new.txt', 'net/old.txt'],
    ]);
  });

  test('follows its branch, becomes ready, is reopened and gets another base: all of them are told', async () => {
    await using all = await startWithTopic();
    const { github, repository } = all;
    await github.setBranch(repository, 'develop', 'main');
    const { number } = await all.open({ draft: true });
    await eventually(() => expect(all.changes).toHaveLength(1));
    const pushed = await all.push({ 'infra/b.txt': '1' });
    await eventually(() => expect(all.changes).toHaveLength(2));
    const others = [
      () => github.readyForReview(repository, number),
      () => github.closePullRequest(repository, number),
      () => github.reopenPullRequest(repository, number),
      () => github.changeBase(repository, number, 'develop'),
    ];
    for (const happen of others) await all.outcome((await happen()).deliveryId);

    const seen = all.changes.map(({ change: { isDraft, headHash, pullRequest } }) => [
      ...[isDraft, headHash === pushed.sha, pullRequest.base],
    ]);
    expect(seen).toEqual([
      [true, false, 'main'],
      [true, true, 'main'],
      [false, true, 'main'],
      [false, true, 'main'],
      [false, true, 'develop'],
    ]);
    expect(all.closings).toEqual([{ repositoryId: repository.id, number, by: 'ada' }]);
  });

  test('is told as closed when it is merged, and when its branch is deleted', async () => {
    await using all = await startWithTopic();
    const { github, repository } = all;
    await github.commitAndPush(repository, { branch: 'other', message: 'x', files: { x: '1' } });
    const { number } = await all.open();
    const second = await all.open({ head: 'other' });
    await github.mergePullRequest(repository, number, 'bob');
    await github.deleteBranch(repository, { branch: 'other' });

    await eventually(() => expect(all.closings).toHaveLength(2));

    const { id: repositoryId } = repository;
    expect(all.closings).toEqual([
      { repositoryId, number, by: 'bob' },
      { repositoryId, number: second.number, by: 'ada' },
    ]);
  });

  test('of 2,999 files is read page by page; of more git tells what it changes', async () => {
    await using all = await startWithTopic();
    const { github, repository } = all;
    const files = Object.fromEntries(Array.from({ length: 2998 }, (_, at) => [`many/${at}.txt`, `${at}`]));
    await github.commit(repository, { branch: 'topic', message: 'Many', files });
    const listed = () => github.requests.filter(({ path }) => path.endsWith('/files')).length;

    await all.outcome((await all.open()).deliveryId);
    const pages = listed();
    await all.outcome((await all.push({ 'one/more.txt': '1' })).deliveryId);
    await eventually(() => expect(all.changes).toHaveLength(2));

    const [first, second] = all.changes.map(({ content }) => content.changedPaths);
    expect(first).toHaveLength(2999);
    expect(pages).toBe(30);
    expect(second?.toSorted()).toEqual([...(first ?? []), 'one/more.txt'].toSorted());
    expect(listed()).toBe(pages);
  });
});

describe('a fork', () => {
  test('is told as one, with its commit and a branch that is none of ours', async () => {
    await using all = await startWithFork();
    const { headRepository, sha } = all;

    const sent = await all.open({ head: 'main', headRepository, author: 'mallory' });

    await all.outcome(sent.deliveryId);
    const [seen] = all.changes;
    expect(seen?.change).toMatchObject({
      ...{ branch: 'mallory:main', headHash: sha, repositoryId: all.repository.id },
      pullRequest: { isFork: true, author: 'mallory' },
    });
    expect(seen?.content).toMatchObject({
      ...{ head: { hash: sha, message: 'From a fork' }, changedPaths: ['infra/evil.txt'] },
    });
  });

  test('is told again when it is pushed to', async () => {
    await using all = await startWithFork();
    const { github, headRepository } = all;
    await all.open({ head: 'main', headRepository, author: 'mallory' });

    const { sha } = await github.commitAndPush(headRepository, {
      ...{ branch: 'main', message: 'More', files: { 'infra/more.txt': '1' }, pusher: 'mallory' },
    });

    await eventually(() => expect(all.changes.at(-1)?.content.head.hash).toBe(sha));
    // The App is not installed there: no push is told.
    expect(all.pushes).toEqual([]);
  });

  test('that is gone is still one', () => {
    const gone = { ref: 'topic', sha: 'a1', user: null, repo: null };
    const json = { number: 1, state: 'open', title: 't', user: null, changed_files: 1 };
    const base = { ref: 'main', repo: { id: 5 } };

    expect(parsePullRequest({ ...json, base, head: gone })).toMatchObject({
      ...{ branch: 'ghost:topic', author: null, isDraft: false },
      pullRequest: { isFork: true, author: 'ghost' },
    });
    expect(parsePullRequest({ ...json, base, head: { ...gone, repo: { id: 5 } } })).toMatchObject({
      ...{ branch: 'topic', pullRequest: { isFork: false } },
    });
  });
});

test.each([
  [{ state: 'open', merged: false, merge_commit_sha: 'tried' }, 'open', null],
  [{ state: 'closed', merged: false, merge_commit_sha: 'tried' }, 'closed', null],
  [{ state: 'closed', merged: true, merge_commit_sha: 'm1' }, 'merged', 'm1'],
  [{ state: 'closed', merged: true, merge_commit_sha: null }, 'merged', null],
  [{ state: 'closed' }, 'closed', null],
])('the state of a pull request: %j', (json, state, mergeCommitHash) => {
  const side = { ref: 'main', sha: 'a1', repo: { id: 5 }, user: null };
  const rest = { number: 1, title: 't', user: null, changed_files: 1, base: side, head: side };

  expect(parsePullRequest({ ...rest, ...json })).toMatchObject({ state, mergeCommitHash });
});

test('what a merged pull request changed is not known when GitHub does not list all of it', async () => {
  await using all = await startWithTopic();
  const { github, repository } = all;
  const { number } = await all.open();
  await all.outcome((await github.mergePullRequest(repository, number)).closed.deliveryId);
  const live = await all.pullRequests.find(repository.id, number);
  if (!live) throw new Error('there is one');

  expect(await all.pullRequests.changedPaths(live)).toEqual(['infra/a.txt']);
  expect(await all.pullRequests.changedPaths({ ...live, changedFiles: 3000 })).toBeNull();
});

describe('bots are named:', () => {
  const bot = 'renovate[bot]';

  test('the author and the sender, once a person pushes only the author', async () => {
    await using all = await startWithTopic();
    all.github.addBot(bot);
    await all.outcome((await all.open({ author: bot })).deliveryId);
    await all.push({ 'infra/b.txt': '1' });
    await eventually(() => expect(all.changes).toHaveLength(2));

    expect(all.changes.map(({ content }) => content.bots)).toEqual([[bot], [bot]]);
  });

  test('the sender of a push', async () => {
    await using all = await startWithTopic();
    all.github.addBot(bot);
    await all.github.commitAndPush(all.repository, {
      ...{ branch: 'topic', message: 'x', files: { x: '1' }, pusher: bot },
    });
    await eventually(() => expect(all.pushes).toHaveLength(1));
    expect(all.pushes[0]?.push).toMatchObject({ pusherLogin: bot, pusherIsBot: true });
  });

  test('who wrote the head commit, when a person opens it', async () => {
    await using all = await startWithTopic();
    const { id, login } = all.github.addBot(bot);
    await all.github.commit(all.repository, {
      ...{ branch: 'topic', message: 'Update', files: { x: '1' } },
      author: { name: login, email: `${id}+${login}@users.noreply.github.com` },
    });
    await all.outcome((await all.open()).deliveryId);
    expect(all.changes[0]?.content.bots).toEqual([bot]);
  });
});

describe('ignored with the reason is', () => {
  test('an event of an older head', async () => {
    await using all = await startWithTopic();
    const first = await all.open();
    await all.push({ 'infra/b.txt': '1' });
    await eventually(() => expect(all.changes).toHaveLength(2));

    expect(await all.late(first.deliveryId)).toEqual({
      ...{ state: 'ignored', note: `${all.head.slice(0, 7)} is not the head of #${first.number} any more` },
    });
    expect(all.changes).toHaveLength(2);
  });

  test('an event of before it was closed, or its branch deleted', async () => {
    await using all = await startWithTopic();
    const { deliveryId, number } = await all.open();
    await all.github.push(all.repository, { branch: 'topic' });
    await all.github.deleteBranch(all.repository, { branch: 'topic' });
    await eventually(() => expect(all.closings).toHaveLength(1));

    expect(await all.late(deliveryId)).toEqual({ state: 'ignored', note: `#${number} is closed` });
  });

  test('the closing of one that was reopened', async () => {
    await using all = await startWithTopic();
    const { number } = await all.open();
    const closed = await all.github.closePullRequest(all.repository, number);
    await all.outcome(closed.deliveryId);
    await all.github.reopenPullRequest(all.repository, number);

    expect(await all.late(closed.deliveryId)).toEqual({
      ...{ state: 'ignored', note: `#${number} is open again` },
    });
    expect(all.closings).toHaveLength(1);
  });

  test('one that GitHub does not know, except that its closing still ends its runs', async () => {
    await using all = await startWithTopic();
    const { deliveryId } = await all.open();
    await all.outcome(deliveryId);

    expect(await all.late(deliveryId, { number: 999 })).toEqual({
      ...{ state: 'ignored', note: 'there is no pull request #999 any more' },
    });
    expect(await all.late(deliveryId, { number: 999, action: 'closed' })).toMatchObject({ state: 'done' });
    expect(all.closings).toMatchObject([{ number: 999 }]);
  });

  test('an edit that leaves the base, whatever it says', async () => {
    await using all = await startWithTopic();
    const { number } = await all.open();
    const renamed = await all.github.renamePullRequest(all.repository, number, 'Another title');
    expect(await all.outcome(renamed.deliveryId)).toEqual({ state: 'ignored', note: 'its base is the same' });
  });

  test.each(['labeled', 'assigned', 'converted_to_draft', 'review_requested', 'unheard_of'])(
    'what is %s, without a question',
    async (action) => {
      await using all = await startWithTopic();
      const { deliveryId } = await all.open();
      await all.outcome(deliveryId);
      const asked = all.github.requests.length;

      expect(await all.late(deliveryId, { action })).toEqual({
        ...{ state: 'ignored', note: `nothing is done for the action ${action}` },
      });
      expect(all.github.requests).toHaveLength(asked);
    },
  );
});

describe('what is not as GitHub documents it waits for a person:', () => {
  test.each([
    ['without an installation', { installation: undefined }, /^payload not understood: installation: /],
    ['without an action', { action: undefined }, /^payload not understood: action: /],
    ['without a head', { pull_request: {} }, /^payload not understood: pull_request\.head: /],
    ['without a sender', { sender: null }, /^payload not understood: sender: /],
    ['with a number that is none', { number: '1' }, /^payload not understood: number: /],
  ])('%s', async (_title, change, note) => {
    await using all = await startWithTopic();
    const { deliveryId } = await all.open();
    await all.outcome(deliveryId);

    expect(await all.late(deliveryId, change)).toEqual({
      ...{ state: 'failed', note: expect.stringMatching(note) },
    });
    expect(all.changes).toHaveLength(1);
  });
});

test.each(['/pulls/\\d+$', '/pulls/\\d+/files$', '/commits/'])(
  'an event waits while GitHub does not answer %s',
  async (path) => {
    await using all = await startWithTopic();
    all.github.failNext({ method: 'GET', pathPattern: new RegExp(path), status: 502 });

    const { deliveryId, number } = await all.open();

    await eventually(async () =>
      expect(await all.inboxStore.find(deliveryId)).toMatchObject({
        ...{ state: 'pending', attempts: 1 },
        note: `github-unavailable: GitHub could not be asked about pull request #${number} of acme/infra.`,
      }),
    );
    all.clock.ms += 2000;
    all.worker.wake();
    expect(await all.outcome(deliveryId)).toMatchObject({ state: 'done' });
    expect(all.changes).toHaveLength(1);
  },
);

describe('a pull request of a repository where push policies judge', () => {
  /** As GitHub tells of a label: the stand-in has none. */
  const labeled = { action: 'labeled', label: { name: 'preview' } };

  test('is told whatever happens to it, for the policies only', async () => {
    await using all = await startWithTopic({ isJudged: true });
    const { number, deliveryId } = await all.open();
    await all.outcome(deliveryId);
    await all.late(deliveryId, labeled);
    await all.outcome((await all.github.closePullRequest(all.repository, number)).deliveryId);

    expect(all.changes.map(({ change }) => [change.details.action, change.onlyForPolicies ?? false])).toEqual(
      [
        ['opened', false],
        ['labeled', true],
        ['closed', true],
      ],
    );
    expect(all.closings).toHaveLength(1);
    expect(all.changes.at(-1)?.change.details).toMatchObject({ state: 'closed', isMergeable: null });
  });

  test('costs no question after a label where none does', async () => {
    await using all = await startWithTopic();
    const { deliveryId } = await all.open();
    await all.outcome(deliveryId);
    const before = all.github.requests.length;

    const handled = await all.late(deliveryId, labeled);

    expect(handled).toMatchObject({ note: 'nothing is done for the action labeled' });
    expect(all.github.requests).toHaveLength(before);
    expect(all.changes).toHaveLength(1);
  });
});
