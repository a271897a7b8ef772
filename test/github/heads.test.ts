import { describe, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import { createHeadLoop } from '../../src/github/reconcile/head-loop.ts';
import { createHeadReader } from '../../src/github/reconcile/head-reader.ts';
import { everyMs } from '../../src/github/reconcile/pace.ts';
import { settleMs } from '../../src/runs/branch-heads.ts';
import type { MissedPush } from '../../src/runs/missed-pushes.ts';
import { createBranchHeadStore } from '../../src/storage/branch-head-store.ts';
import { createLostDeliveryStore } from '../../src/storage/lost-delivery-store.ts';
import { stackSettings } from '../support/builders.ts';
import { startReceiving } from './receiving.ts';
import { eventually, silent } from './support.ts';

const refs = /^\/repos\/[^/]+\/[^/]+\/git\/ref\//;

/** acme/infra with a stack that follows main, looked at once: its head is known. */
async function open() {
  const all = await startReceiving();
  const { github, database, clock, stacks } = all;
  const branchHeads = createBranchHeadStore(database);
  const lostDeliveries = createLostDeliveryStore(database);
  const missed: MissedPush[] = [];
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '0' } });
  await eventually(async () => expect(await all.store.find(infra.id)).not.toBeNull());
  const start = () =>
    createHeadLoop({
      reader: createHeadReader(all.app),
      branchHeads,
      inbox: all.inboxStore,
      lostDeliveries,
      source: all.source,
      files: all.files,
      budget: all.budget,
      async onMissedPush(push) {
        missed.push(push);
        const head = { hash: push.head.hash, seenAtMs: clock.nowMs() };
        await database.write((tx) => branchHeads.save(tx, push.repositoryId, push.branch, head));
        return { notes: ['network: offered'], outcomes: ['offered'] };
      },
      transactions: database,
      observer: { delivery: () => undefined, push: () => undefined },
      clock,
      random: () => 0.5,
      logger: silent,
    });
  let heads = start();
  let count = 0;

  async function addStack(repository: Repository, branch = 'main'): Promise<void> {
    count += 1;
    const id = `stack-${count}`;
    const of = { accountId: repository.owner.id, repositoryId: repository.id };
    const stack = { key: id, id, ...of, settings: stackSettings({ branch }), createdAtMs: 0 };
    await database.write((tx) => stacks.insert(tx, stack));
  }

  /** Looks until there is nothing to look at; the milliseconds until there is. */
  async function look(): Promise<number> {
    for (;;) {
      const waitMs = await heads.step(new AbortController().signal);
      if (waitMs > 0) return waitMs;
    }
  }

  async function later(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; ) {
      const waitMs = Math.min(await look(), leftMs);
      clock.ms += waitMs;
      leftMs -= waitMs;
    }
    await look();
  }

  const opened = {
    ...all,
    ...{ infra, branchHeads, lostDeliveries, missed, addStack, look, later },
    /** Without a word to anybody. */
    commit: (branch = 'main', repository = infra) => {
      count += 1;
      return github.commit(repository, { branch, message: `${count}`, files: { a: `${count}` } });
    },
    known: async (branch = 'main') => (await branchHeads.find(infra.id, branch))?.hash,
    asked: () => github.requests.filter(({ path }) => refs.test(path)),
    restart: () => {
      heads = start();
    },
  };
  await addStack(infra);
  await look();
  return opened;
}

describe('branches that stacks follow', () => {
  test('are known from the first look on, without a run', async () => {
    await using all = await open();
    const head = all.infra.announced.get('refs/heads/main');
    expect(await all.known()).toBe(head);
    await all.addStack(all.infra, 'release');
    await all.later(everyMs);

    expect(await all.known('release')).toBeNull();
    expect(all.missed).toEqual([]);
  });

  test('are each asked for once a round, and cost nothing while they stand still', async () => {
    await using all = await open();
    await all.addStack(all.infra);
    await all.later(2 * everyMs);

    expect(all.asked().map(({ status }) => status)).toEqual([200, 304, 304]);
  });

  test('are forgotten when no stack follows them any more, and adopted when one does again', async () => {
    await using all = await open();
    await all.database.write((tx) => all.stacks.remove(tx, 'stack-1'));
    await all.later(everyMs);
    expect(await all.known()).toBeUndefined();

    const head = await all.commit();
    await all.addStack(all.infra);
    await all.later(everyMs);

    expect(await all.known()).toBe(head);
    expect(all.missed).toEqual([]);
  });
});

describe('a branch that has moved without a word', () => {
  test('counts at the second look, a minute later', async () => {
    await using all = await open();
    const before = await all.known();
    const head = await all.commit();
    await all.later(everyMs);
    expect(all.missed).toEqual([]);
    await all.later(settleMs - 1);
    expect(all.missed).toEqual([]);

    await all.later(1);

    expect(all.missed).toMatchObject([
      { repositoryId: all.infra.id, branch: 'main', known: { hash: before }, head: { hash: head } },
    ]);
    await all.later(3 * everyMs);
    expect(all.missed).toHaveLength(1);
  });

  test('does not count when the push is told in between', async () => {
    await using all = await open();
    const head = await all.commit();
    await all.later(everyMs);
    await all.database.write((tx) =>
      all.branchHeads.save(tx, all.infra.id, 'main', { hash: head, seenAtMs: all.clock.ms }),
    );

    await all.later(2 * everyMs);

    expect(all.missed).toEqual([]);
  });

  test.each(['in the inbox', 'asked for'])('waits for a push that is %s', async (where) => {
    await using all = await open();
    const { database, clock, infra } = all;
    const lane = `repository ${infra.id}`;
    const push = { id: 'later', event: 'push', lane, body: Buffer.from('{}'), receivedAtMs: clock.ms };
    const lost = { guid: 'later', deliveryId: 1, event: 'push', repositoryId: infra.id, deliveredAtMs: 0 };
    await database.write(async (tx) => {
      if (where === 'asked for') await all.lostDeliveries.add(tx, lost, clock.ms);
      else {
        await all.inboxStore.insert(tx, push);
        await all.inboxStore.retryLater(tx, 'later', Number.MAX_SAFE_INTEGER, 'not now');
      }
    });
    await all.commit();
    await all.later(4 * everyMs);
    expect(all.missed).toEqual([]);

    await database.write(async (tx) => {
      if (where === 'asked for') await all.lostDeliveries.giveUp(tx, 'later');
      else await all.inboxStore.settle(tx, 'later', { state: 'failed', note: 'given up' });
    });
    await all.later(everyMs);
    expect(all.missed).toHaveLength(1);
  });

  test('counts from its newest head: one that goes on moving is waited for', async () => {
    await using all = await open();
    await all.commit();
    await all.later(everyMs);
    const newest = await all.commit();
    await all.later(settleMs);
    expect(all.missed).toEqual([]);

    await all.later(settleMs);

    expect(all.missed).toMatchObject([{ head: { hash: newest } }]);
  });

  test('is found out after a restart, too', async () => {
    await using all = await open();
    const head = await all.commit();
    all.restart();

    await all.later(settleMs);

    expect(all.missed).toMatchObject([{ head: { hash: head } }]);
  });

  test('and was deleted is known to be gone, and what comes back is missed', async () => {
    await using all = await open();
    all.github.setWebhook(null);
    await all.github.commitAndPush(all.infra, { branch: 'release', message: 'One', files: { a: '1' } });
    await all.addStack(all.infra, 'release');
    await all.later(everyMs);
    await all.github.deleteBranch(all.infra, { branch: 'release' });
    await all.later(everyMs + settleMs);
    expect(await all.known('release')).toBeNull();
    expect(all.missed).toEqual([]);

    const head = await all.commit('release');
    await all.later(everyMs + settleMs);

    expect(all.missed).toMatchObject([{ branch: 'release', known: { hash: null }, head: { hash: head } }]);
  });
});

describe('a GitHub in trouble', () => {
  test('is left alone for as long as it wants, by installation, and nothing is lost', async () => {
    await using all = await open();
    const head = await all.commit();
    const wish = { status: 403, headers: { 'retry-after': '1200' } };
    all.github.failNext({ pathPattern: refs, ...wish });
    await all.later(everyMs);
    const asked = all.asked().length;

    await all.later(1_100_000);
    expect(all.asked()).toHaveLength(asked);
    await all.later(100_000 + everyMs + settleMs);

    expect(all.missed).toMatchObject([{ head: { hash: head } }]);
  });

  test('is asked for the rest of a round once there is room again, before the next', async () => {
    await using all = await open();
    await all.addStack(all.infra, 'release');
    await all.later(everyMs - 1);
    const before = all.asked().length;
    const read = { method: 'GET', url: '/repos/{owner}/{repo}', headers: {} };
    for (let count = 0; count < 809; count += 1) all.budget.record(all.installation.id, read);

    await all.later(1);
    expect(all.asked()).toHaveLength(before + 1);
    await all.later(60_000);

    expect(
      all
        .asked()
        .slice(before)
        .map(({ path }) => path.replace(/.*%2F/, '')),
    ).toEqual(['main', 'release']);
  });

  test('is asked first for what a round did not come to', async () => {
    await using all = await open();
    await all.addStack(all.infra, 'release');
    await all.later(everyMs);
    const before = all.asked().length;
    all.budget.pause(all.installation.id, all.clock.ms + everyMs + 1);
    await all.later(everyMs);
    expect(all.asked()).toHaveLength(before);
    await all.addStack(all.infra, 'a-new-one');

    await all.later(everyMs);

    const names = all.asked().map(({ path }) => path.replace(/.*%2F/, ''));
    expect(names.slice(before, before + 2)).toEqual(['main', 'release']);
  });

  test('that fails for minutes is asked in each round', async () => {
    await using all = await open();
    const head = await all.commit();
    all.github.failNext({ pathPattern: refs, status: 502, times: 3 });
    await all.later(3 * everyMs);
    expect(all.missed).toEqual([]);

    await all.later(everyMs + settleMs);

    expect(all.missed).toMatchObject([{ head: { hash: head } }]);
  });

  test('that does not say what was pushed is asked again', async () => {
    await using all = await open();
    const head = await all.commit();
    all.github.failNext({ pathPattern: /\/branches\/main$/, status: 500, times: 2 });

    await all.later(everyMs + 3 * settleMs);

    expect(all.missed).toMatchObject([{ head: { hash: head } }]);
  });

  test('that shows nothing of a repository any more does not make its branches gone', async () => {
    await using all = await open();
    const before = await all.known();
    await all.github.transferRepository(all.infra, 'ada');

    await all.later(2 * everyMs);

    expect(await all.known()).toBe(before);
    expect(all.missed).toEqual([]);
  });

  test('where the name of a repository belongs to another one does not mix the two up', async () => {
    await using all = await open();
    await all.github.renameRepository(all.infra, 'renamed');
    // As long as nobody told us.
    const known = await all.store.find(all.infra.id);
    const other = await all.github.addRepository({ owner: 'acme', name: 'infra', files: { a: 'other' } });
    expect(other.id).not.toBe(all.infra.id);
    if (known)
      await all.database.write((tx) => all.store.saveRepository(tx, { ...known, fullName: 'acme/infra' }));

    await all.later(2 * everyMs);

    expect(all.missed).toEqual([]);
  });
});
