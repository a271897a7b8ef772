import { describe, expect, test } from 'vitest';
import type { OutboxStore, WantedItem } from '../../src/github/feedback/outbox-store.ts';
import type { Transactions, Tx } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: OutboxStore;
  transactions: Transactions;
  /** Makes the run that an item belongs to. */
  addRun(id: string): Promise<void>;
  removeRun(tx: Tx, id: string): Promise<void>;
  /** Knows a repository, of an account on which the App is suspended or not. */
  saveRepository(tx: Tx, repositoryId: number, isSuspended: boolean): Promise<void>;
  /** Of the repositories that are saved. */
  readonly installationId: number;
}

/** Any JSON will do: what it means is its sender's business. */
const aWish = (title: string) => ({ output: { title, summary: 'The run waits.' } });

const anItem = (item: Partial<WantedItem> & Pick<WantedItem, 'id'>): WantedItem => ({
  kind: 'check_run',
  runId: null,
  repositoryId: 5,
  lane: 'checks:5',
  desired: aWish('Queued'),
  ...item,
});

/** What every store of what GitHub should show must do. */
export function outboxStoreContract(name: string, open: () => Promise<Opened>): void {
  async function withWish() {
    const opened = await open();
    await opened.addRun('run-1');
    const wantItem = (item: WantedItem, dueMs: number) =>
      opened.transactions.write((tx) => opened.store.want(tx, item, dueMs));
    const want = (title: string, dueMs: number, runId = 'run-1', lane = 'checks:5') =>
      wantItem(anItem({ id: runId, runId, lane, desired: aWish(title) }), dueMs);
    const wantOfFile = (id: string, dueMs: number, repositoryId = 5) =>
      wantItem(anItem({ id, repositoryId, slot: `file:${repositoryId}`, desired: aWish('File') }), dueMs);
    await want('Queued', 1000);
    return {
      ...opened,
      want,
      wantItem,
      wantOfFile,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  describe(`the outbox store on ${name}`, () => {
    test('a wish is due at once', async () => {
      await using opened = await withWish();
      const { store } = opened;

      expect(await store.due(999, [])).toBeNull();
      expect(await store.nextDueMs([])).toBe(1000);
      expect(await store.due(1000, [])).toEqual({
        id: 'run-1',
        kind: 'check_run',
        runId: 'run-1',
        repositoryId: 5,
        lane: 'checks:5',
        desired: aWish('Queued'),
        version: 1,
        remoteId: null,
        createTried: false,
        attempts: 0,
        notes: [],
      });
    });

    test('old checks that are of no run are forgotten, so many at a time, and nothing else', async () => {
      await using opened = await withWish();
      const { store, transactions, wantItem, wantOfFile } = opened;
      await wantOfFile('file:1', 1000);
      for (const id of ['old-1', 'old-2', 'old-3', 'not-sent']) await wantItem(anItem({ id }), 1000);
      await wantItem(anItem({ id: 'young' }), 2000);
      await wantItem(anItem({ id: 'reaction:1', kind: 'reaction' }), 1000);
      for (const id of ['run-1', 'file:1', 'old-1', 'old-2', 'old-3', 'young', 'reaction:1']) {
        await transactions.write((tx) => store.sent(tx, id, 1, 7));
      }
      const remove = () =>
        transactions.write((tx) => store.removeOldChecks(tx, { dueBeforeMs: 2000, limit: 2 }));

      expect([await remove(), await remove(), await remove()]).toEqual([2, 1, 0]);

      const all = ['run-1', 'file:1', 'old-1', 'old-2', 'old-3', 'not-sent', 'young', 'reaction:1'];
      const found = await Promise.all(all.map(async (id) => ((await store.find(id)) ? [id] : [])));
      expect(found.flat()).toEqual(['run-1', 'file:1', 'not-sent', 'young', 'reaction:1']);
    });

    test('a note is due at once and stays with every later wish', async () => {
      await using opened = await withWish();
      const { store, transactions, want } = opened;
      const note = (key: string, nowMs: number) =>
        transactions.write((tx) => store.addNote(tx, 'run-1', { key, text: `${key} said` }, nowMs));
      await transactions.write((tx) => store.sent(tx, 'run-1', 1, 77));
      expect(await store.due(9e9, [])).toBeNull();

      expect(await note('first', 2000)).toBe(true);

      const desired = aWish('Queued');
      const notes = ['first said'];
      expect(await store.due(2000, [])).toMatchObject({ version: 2, remoteId: 77, desired, notes });
      await transactions.write((tx) => store.retryLater(tx, 'run-1', 2, 60_000, 'GitHub said 500'));
      expect(await note('second', 2500)).toBe(true);
      expect(await store.due(2500, [])).toMatchObject({ version: 3, attempts: 0 });
      await want('Applied', 3000);
      expect(await store.due(3000, [])).toMatchObject({
        version: 4,
        desired: { output: { title: 'Applied' } },
        notes: ['first said', 'second said'],
      });
    });

    test('a note is added once, to what is wanted', async () => {
      await using opened = await withWish();
      const { store, transactions } = opened;
      const note = (id: string, text: string) =>
        transactions.write((tx) => store.addNote(tx, id, { key: 'same', text }, 2000));

      expect([await note('run-1', 'one'), await note('run-1', 'two')]).toEqual([true, false]);
      expect(await note('nobody', 'one')).toBe(false);
      expect(await store.due(2000, [])).toMatchObject({ version: 2, notes: ['one'] });
    });

    test('a newer wish replaces the older, counts attempts anew and keeps what is known of GitHub', async () => {
      await using opened = await withWish();
      const { store, transactions, want } = opened;
      await transactions.write((tx) => store.setCreateTried(tx, 'run-1'));
      await transactions.write((tx) => store.retryLater(tx, 'run-1', 1, 60_000, 'GitHub said 500'));
      expect(await store.due(2000, [])).toBeNull();

      await want('Preparing', 2000);

      expect(await store.due(2000, [])).toMatchObject({
        version: 2,
        desired: { output: { title: 'Preparing' } },
        createTried: true,
        attempts: 0,
      });
    });

    test('a version that was sent is settled, and a wish that came meanwhile stays due', async () => {
      await using opened = await withWish();
      const { store, transactions, want } = opened;
      await want('Preparing', 2000);

      await transactions.write((tx) => store.sent(tx, 'run-1', 1, 77));
      expect(await store.due(2000, [])).toMatchObject({ version: 2, remoteId: 77 });
      await transactions.write((tx) => store.sent(tx, 'run-1', 2, 77));

      expect([await store.due(9e9, []), await store.nextDueMs([])]).toEqual([null, null]);
      expect(await store.find('run-1')).toMatchObject({ remoteId: 77, isSettled: true, lastError: null });
    });

    test('a failure is counted and put off, a postponement is not counted', async () => {
      await using opened = await withWish();
      const { store, transactions } = opened;

      await transactions.write((tx) => store.retryLater(tx, 'run-1', 1, 3000, 'GitHub said 500'));
      await transactions.write((tx) => store.postpone(tx, 'run-1', 4000));

      expect(await store.nextDueMs([])).toBe(4000);
      expect(await store.due(4000, [])).toMatchObject({ attempts: 1 });
      expect(await store.find('run-1')).toMatchObject({ isSettled: false, lastError: 'GitHub said 500' });
    });

    test('a limit puts off all of a kind that are due in an installation, and nothing else', async () => {
      await using opened = await withWish();
      const { store, transactions, wantItem } = opened;
      await transactions.write((tx) => opened.saveRepository(tx, 5, false));
      await wantItem(anItem({ id: 'later' }), 1501);
      await wantItem(anItem({ id: 'a comment', kind: 'comment' }), 1200);
      await wantItem(anItem({ id: 'settled' }), 1100);
      await wantItem(anItem({ id: 'elsewhere', repositoryId: 6 }), 1400);
      await transactions.write((tx) => store.sent(tx, 'settled', 1, 78));

      const of = { installationId: opened.installationId, kind: 'check_run', nowMs: 1500 } as const;
      await transactions.write((tx) => store.postponeDue(tx, of, 9000));

      const dueMs = async (id: string) => (await store.find(id))?.nextAtMs;
      expect(await Promise.all(['run-1', 'later', 'a comment', 'settled', 'elsewhere'].map(dueMs))).toEqual([
        9000, 1501, 1200, 1100, 1400,
      ]);
    });

    test('the same wish once more is due, with attempts counted anew', async () => {
      await using opened = await withWish();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.sent(tx, 'run-1', 1, 77));
      const touch = (id: string, dueMs: number) => transactions.write((tx) => store.touch(tx, id, dueMs));

      expect(await touch('run-1', 2000)).toBe(true);

      expect(await store.due(1999, [])).toBeNull();
      const desired = aWish('Queued');
      expect(await store.due(2000, [])).toMatchObject({ version: 2, remoteId: 77, attempts: 0, desired });
      expect(await touch('nobody', 2000)).toBe(false);
    });

    test('what had nothing to show is settled', async () => {
      await using opened = await withWish();
      const { store, transactions } = opened;

      await transactions.write((tx) => store.sent(tx, 'run-1', 1, null));

      expect(await store.find('run-1')).toMatchObject({ remoteId: null, isSettled: true });
    });

    test('a transaction sees what it wants', async () => {
      await using opened = await withWish();
      const { store, transactions } = opened;
      const item = anItem({ id: 'reaction:1', kind: 'reaction', lane: 'talk:5' });

      const found = await transactions.write(async (tx) => {
        await store.want(tx, item, 1000);
        return store.find('reaction:1', tx);
      });

      expect(found).toMatchObject({ kind: 'reaction', isSettled: false });
    });

    test('what is given up is not due any more, until something newer is wanted', async () => {
      await using opened = await withWish();
      const { store, transactions, want } = opened;

      await transactions.write((tx) => store.giveUp(tx, 'run-1', 1, 'no access', 4000));

      expect(await store.due(9e9, [])).toBeNull();
      expect(await store.find('run-1')).toMatchObject({ isSettled: true, lastError: 'no access' });
      await want('Preparing', 5000);
      expect(await store.due(5000, [])).toMatchObject({ version: 2, attempts: 0 });
    });

    test('the longest due goes first', async () => {
      await using opened = await withWish();
      const { store, want, addRun } = opened;
      await addRun('run-2');
      await want('Queued', 500, 'run-2');

      expect((await store.due(2000, []))?.runId).toBe('run-2');
    });

    test('busy lanes are passed over', async () => {
      await using opened = await withWish();
      const { store, want, addRun } = opened;
      await addRun('run-2');
      await want('Queued', 3000, 'run-2', 'talk:5');

      expect((await store.due(3000, ['checks:5']))?.runId).toBe('run-2');
      expect(await store.nextDueMs(['checks:5'])).toBe(3000);
      expect(await store.due(3000, ['checks:5', 'talk:5'])).toBeNull();
      expect(await store.nextDueMs(['talk:5', 'checks:5'])).toBeNull();
    });

    test('what is wanted where the App is suspended is kept, and due once it is not', async () => {
      await using opened = await withWish();
      const { store, transactions, saveRepository } = opened;
      const suspend = (isSuspended: boolean) =>
        transactions.write((tx) => saveRepository(tx, 5, isSuspended));

      await suspend(true);
      expect([await store.due(9e9, []), await store.nextDueMs([])]).toEqual([null, null]);
      expect(await store.standing(0)).toEqual({ waiting: 1, givenUp: 0 });
      await suspend(false);

      expect(await store.due(1000, [])).toMatchObject({ runId: 'run-1', attempts: 0 });
    });

    test('a failure of an older version does not put off what is wanted now', async () => {
      await using opened = await withWish();
      const { store, transactions, want } = opened;
      await want('Preparing', 2000);

      await transactions.write((tx) => store.retryLater(tx, 'run-1', 1, 60_000, 'GitHub said 500'));

      expect(await store.due(2000, [])).toMatchObject({ version: 2, attempts: 0 });
    });

    test('what is due too late is brought forward', async () => {
      await using opened = await withWish();
      const { store, transactions, want, addRun } = opened;
      await addRun('run-2');
      await want('Queued', 5000, 'run-2');
      await transactions.write((tx) => store.postpone(tx, 'run-1', 5001));

      await transactions.write((tx) => store.bringForward(tx, 5000, 300));

      expect((await store.find('run-1'))?.nextAtMs).toBe(300);
      expect((await store.find('run-2'))?.nextAtMs).toBe(5000);
    });

    test('says how many wait and how many were given up lately, unless something newer came of them', async () => {
      await using opened = await withWish();
      const { store, transactions, want, addRun } = opened;
      await addRun('run-2');
      await want('Queued', 1000, 'run-2');
      await transactions.write((tx) => store.giveUp(tx, 'run-1', 1, 'no access', 4000));

      expect(await store.standing(4000)).toEqual({ waiting: 1, givenUp: 1 });
      expect(await store.standing(4001)).toEqual({ waiting: 1, givenUp: 0 });
      await want('Preparing', 5000);
      expect(await store.standing(0)).toEqual({ waiting: 2, givenUp: 0 });
      await transactions.write((tx) => store.sent(tx, 'run-1', 2, 77));
      expect(await store.standing(0)).toEqual({ waiting: 1, givenUp: 0 });
    });

    test('a wish is found by its slot, until it is wanted without one', async () => {
      await using opened = await withWish();
      const { store, transactions, wantItem, wantOfFile } = opened;
      const holder = () => transactions.write((tx) => store.inSlot(tx, 'file:5'));
      expect(await holder()).toBeNull();
      await wantOfFile('file-1', 1100);
      expect(await holder()).toEqual({ id: 'file-1', desired: aWish('File') });

      await wantItem(anItem({ id: 'file-1' }), 1200);
      expect(await holder()).toBeNull();
      await wantOfFile('file-2', 1300);

      expect(await holder()).toMatchObject({ id: 'file-2' });
      expect(await store.find('file-1')).not.toBeNull();
    });

    test('a wish with a slot takes the place of the one before it there, and of nothing else', async () => {
      await using opened = await withWish();
      const { store, transactions, wantOfFile } = opened;
      await wantOfFile('file-1', 1100);
      await wantOfFile('other-file', 1100, 6);
      await transactions.write((tx) => store.setCreateTried(tx, 'file-1'));

      await wantOfFile('file-2', 1200);

      expect(await store.find('file-1')).toBeNull();
      expect(await store.find('run-1')).not.toBeNull();
      expect(await store.find('other-file')).not.toBeNull();
      expect(await store.find('file-2')).toMatchObject({ remoteId: null, isSettled: false });
      // What comes of a request that was under way is nobody's business any more.
      await transactions.write((tx) => store.sent(tx, 'file-1', 1, 77));
      await transactions.write((tx) => store.giveUp(tx, 'run-1', 1, 'not in this test', 0));
      await transactions.write((tx) => store.giveUp(tx, 'other-file', 1, 'not in this test', 0));
      expect(await store.due(9e9, [])).toMatchObject({
        id: 'file-2',
        runId: null,
        repositoryId: 5,
        createTried: false,
      });
      await wantOfFile('file-2', 1300);
      expect(await store.due(9e9, [])).toMatchObject({ id: 'file-2', version: 2 });
    });

    test('a wish goes with its run', async () => {
      await using opened = await withWish();
      const { store, transactions } = opened;

      await transactions.write((tx) => opened.removeRun(tx, 'run-1'));

      expect(await store.find('run-1')).toBeNull();
      await transactions.write((tx) => store.sent(tx, 'run-1', 1, 77));
    });
  });
}
