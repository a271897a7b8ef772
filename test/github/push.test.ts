import { describe, expect, test } from 'vitest';
import { changedPaths } from '../../src/github/events/push.ts';
import { startReceiving } from './receiving.ts';
import { eventually } from './support.ts';

const commit = (change: Partial<Record<'added' | 'removed' | 'modified', string[]>> = {}) => ({
  added: [],
  removed: [],
  modified: [],
  ...change,
});
const aPush = (change: Partial<Parameters<typeof changedPaths>[0]> = {}) => ({
  before: 'a'.repeat(40),
  after: 'b'.repeat(40),
  created: false,
  forced: false,
  commits: [commit({ added: ['a'] })],
  ...change,
});
const many = (count: number) => Array.from({ length: count }, (_, index) => `file-${index}`);

describe('changed paths of a push', () => {
  test('are those of all its commits, once each', () => {
    const commits = [commit({ added: ['infra/a', 'b'], removed: ['c'] }), commit({ modified: ['b', 'd'] })];
    expect(changedPaths(aPush({ commits }))).toEqual(['infra/a', 'b', 'c', 'd']);
  });

  test.each([
    ['a forced push', aPush({ forced: true })],
    ['a new branch', aPush({ created: true })],
    ['a list of commits at its limit', aPush({ commits: Array.from({ length: 2048 }, () => commit()) })],
    ['a list of files at its limit', aPush({ commits: [commit({ modified: many(3000) })] })],
    [
      'lists of files that are at the limit together',
      aPush({ commits: [commit({ added: many(1500), modified: many(1500) })] }),
    ],
    ['a branch that moved without commits', aPush({ commits: [] })],
  ])('are not known for %s', (_title, push) => {
    expect(changedPaths(push)).toBeNull();
  });

  test('are known just below the limits', () => {
    const commits = Array.from({ length: 2047 }, () => commit({ added: ['x'] }));
    expect(changedPaths(aPush({ commits }))).toEqual(['x']);
    expect(changedPaths(aPush({ commits: [commit({ added: many(2999) })] }))).toHaveLength(2999);
  });
});

describe('a push that GitHub tells', () => {
  test('reaches the product with its head, its pusher and its paths', async () => {
    await using all = await startReceiving();
    const { github, pushes, inboxStore, store, installation } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { 'a.txt': '1' } });
    await github.commit(repository, { branch: 'main', message: 'One', files: { 'x/a.txt': '2' } });

    const sent = await github.commitAndPush(repository, {
      branch: 'main',
      message: 'Two\n\nWith a body',
      files: { 'a.txt': null, 'x/é b.txt': '3' },
      date: new Date('2026-11-20T08:00:00Z'),
    });

    expect(sent.status).toBe(202);
    await eventually(() => expect(pushes).toHaveLength(1));
    expect(pushes[0]).toEqual({
      deliveryId: sent.deliveryId,
      push: {
        repositoryId: repository.id,
        branch: 'main',
        head: {
          authorLogin: 'ada',
          authorName: 'Ada Lovelace',
          hash: sent.sha,
          message: 'Two\n\nWith a body',
          timestamp: Date.parse('2026-11-20T08:00:00Z') / 1000,
          url: `${github.url}/acme/infra/commit/${sent.sha}`,
        },
        before: expect.stringMatching(/^[0-9a-f]{40}$/),
        isForced: false,
        pusher: 'ada@example.com',
        pusherLogin: 'ada',
        pusherIsBot: false,
        changedPaths: ['x/a.txt', 'x/é b.txt', 'a.txt'],
      },
    });
    await eventually(async () =>
      expect(await inboxStore.find(sent.deliveryId)).toMatchObject({
        state: 'done',
        note: 'network: TRACKED run 1; dns: not affected',
      }),
    );
    expect(await store.find(repository.id)).toEqual({
      id: repository.id,
      accountId: repository.owner.id,
      installationId: installation.id,
      fullName: 'acme/infra',
      defaultBranch: 'main',
      isPrivate: true,
    });
  });

  test('names the noreply address of a pusher who hides theirs, and no login for an unknown author', async () => {
    await using all = await startReceiving();
    const { github, pushes } = all;
    github.addUser({ login: 'grace', name: 'Grace', email: 'grace@example.com', emailPublic: false });
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });

    await github.commitAndPush(repository, {
      branch: 'feature/x',
      message: 'One',
      files: { a: '2' },
      author: { name: 'Nobody', email: 'nobody@nowhere.example' },
      pusher: 'grace',
    });

    await eventually(() => expect(pushes).toHaveLength(1));
    const [seen] = pushes;
    expect(seen?.push).toMatchObject({ branch: 'feature/x', pusherLogin: 'grace', changedPaths: null });
    expect(seen?.push.pusher).toMatch(/^\d+\+grace@users\.noreply\.github\.com$/);
    expect(seen?.push.head).toMatchObject({ authorLogin: '', authorName: 'Nobody' });
  });

  test.each([
    ['has no type', (login: string) => ({ sender: { id: 9, login } })],
    ['is not told', (login: string) => ({ sender: null, pusher: { name: login, email: null } })],
  ])('is one of a bot whose sender %s', async (_, changed) => {
    await using all = await startReceiving();
    const { github, pushes } = all;
    const { login } = github.addBot('renovate[bot]');
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
    const sent = await github.commitAndPush(repository, {
      ...{ branch: 'topic', message: 'One', files: { a: '2' }, pusher: login },
    });
    await eventually(() => expect(pushes).toHaveLength(1));
    const told = github.deliveries.find(({ guid }) => guid === sent.deliveryId);

    await all.handle({
      ...{ id: 'changed', event: 'push', attempt: 1, lane: 'x', receivedAtMs: all.clock.ms },
      body: Buffer.from(JSON.stringify({ ...told?.payload, ...changed(login) })),
    });

    expect(pushes).toHaveLength(2);
    expect(pushes[1]?.push).toMatchObject({ pusherLogin: login, pusherIsBot: true });
  });

  test('of a tag, and of a deleted branch, is ignored with the reason', async () => {
    await using all = await startReceiving();
    const { github, pushes, inboxStore } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
    await github.commitAndPush(repository, { branch: 'topic', message: 'One', files: { a: '2' } });
    await eventually(() => expect(pushes).toHaveLength(1));

    const tag = await github.pushTag(repository, { tag: 'v1', message: 'First' });
    const deleted = await github.deleteBranch(repository, { branch: 'topic' });

    await eventually(async () => expect(await inboxStore.nextDueMs([])).toBeNull());
    const stateOf = (id: string) => inboxStore.find(id);
    expect(await stateOf(tag.deliveryId)).toMatchObject({
      state: 'ignored',
      note: 'refs/tags/v1 is not a branch',
    });
    expect(await stateOf(deleted.deliveryId)).toMatchObject({
      state: 'ignored',
      note: 'refs/heads/topic was deleted',
    });
    expect(pushes).toHaveLength(1);
  });

  test('twice, by a redelivery, is handled once', async () => {
    await using all = await startReceiving();
    const { github, pushes, inboxStore } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
    const commitInput = { branch: 'main', message: 'One', files: { a: '2' } };
    const sent = await github.commitAndPush(repository, commitInput);
    await eventually(async () => expect((await inboxStore.find(sent.deliveryId))?.state).toBe('done'));

    expect(await github.redeliver(sent.deliveryId)).toMatchObject({ status: 202 });

    expect((await inboxStore.find(sent.deliveryId))?.attempts).toBe(1);
    expect(pushes).toHaveLength(1);
  });

  test('from a repository that had been removed brings it back', async () => {
    await using all = await startReceiving();
    const { github, pushes, store, database } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
    await eventually(async () => expect(await store.find(repository.id)).not.toBeNull());
    await database.write((tx) => store.markRemoved(tx, [repository.id]));

    await github.commitAndPush(repository, { branch: 'main', message: 'One', files: { a: '2' } });

    await eventually(() => expect(pushes).toHaveLength(1));
    expect(await store.find(repository.id)).toMatchObject({ fullName: 'acme/infra' });
  });

  test('in a shape that GitHub does not document waits for a person', async () => {
    await using all = await startReceiving();
    const outcome = await all.handle({
      id: 'odd',
      event: 'push',
      body: Buffer.from('{"ref":"refs/heads/main"}'),
      attempt: 1,
      lane: 'x',
      receivedAtMs: all.clock.ms,
    });

    expect(outcome.state).toBe('failed');
    expect(outcome.note).toMatch(/^payload not understood: before: /);
  });
});

test.each(['ping', 'star', 'constructor', '__proto__'])(
  'the event %s is ignored with the reason',
  async (event) => {
    await using all = await startReceiving();
    const delivery = {
      id: 'x',
      event,
      body: Buffer.from('{"action":"requested"}'),
      attempt: 1,
      lane: 'x',
      receivedAtMs: all.clock.ms,
    };

    expect(await all.handle(delivery)).toEqual({
      state: 'ignored',
      note: `nothing is done for the event ${event}`,
    });
  },
);

test('what a handler throws reaches the inbox as it is', async () => {
  await using all = await startReceiving();
  const { github, inboxStore, installation } = all;
  const path = new RegExp(`^/app/installations/${installation.id}$`);
  github.failNext({ method: 'GET', pathPattern: path, status: 500 });

  const repository = await github.addRepository({ owner: 'acme', name: 'infra' });

  const sent = github.deliveries.findLast(({ event }) => event === 'installation_repositories');
  await eventually(async () =>
    expect(await inboxStore.find(sent?.guid ?? '')).toMatchObject({
      state: 'pending',
      attempts: 1,
      note: 'github-unavailable: GitHub could not be asked which repositories the App may see.',
    }),
  );
  all.clock.ms += 2000;
  all.worker.wake();
  await eventually(async () => expect(await all.store.find(repository.id)).not.toBeNull());
});
