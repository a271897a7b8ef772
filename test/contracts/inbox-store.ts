import { describe, expect, test } from 'vitest';
import type { DeliveryFilter, InboxStore } from '../../src/github/inbox-store.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: InboxStore;
  transactions: Transactions;
}

const body = Buffer.from('{"zen":"Design for failure."}');
const aDelivery = (id: string, receivedAtMs = 1000) => ({
  id,
  event: 'push',
  lane: 'repository 5',
  body,
  receivedAtMs,
});

/** What every store of GitHub's deliveries must do. */
export function inboxStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the inbox store on ${name}`, () => {
    test('tells whether an event of a lane is still to be handled', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      expect(await store.hasPending('push', 'repository 5')).toBe(true);
      expect(await store.hasPending('push', 'repository 6')).toBe(false);
      expect(await store.hasPending('check_run', 'repository 5')).toBe(false);

      await transactions.write((tx) => store.settle(tx, 'a', { state: 'failed', note: 'no' }));

      expect(await store.hasPending('push', 'repository 5')).toBe(false);
    });

    test('a delivery is stored with its bytes, pending and due', async () => {
      await using opened = await open();
      const { store, transactions } = opened;

      expect(await transactions.write((tx) => store.insert(tx, aDelivery('a')))).toBe('stored');

      expect(await store.nextDueMs([])).toBe(0);
      expect(await store.find('a')).toEqual({
        seq: expect.any(Number),
        id: 'a',
        event: 'push',
        state: 'pending',
        attempts: 0,
        receivedAtMs: 1000,
        nextAtMs: 0,
        note: null,
        size: body.byteLength,
      });
      // Whatever the clock says by now.
      const claimed = await transactions.write((tx) => store.claim(tx, 1, []));
      expect(claimed).toMatchObject({ ...aDelivery('a'), body: expect.anything(), attempt: 1 });
      expect(Buffer.from(claimed?.body ?? [])).toEqual(body);
      expect(Buffer.from((await store.body('a')) ?? [])).toEqual(body);
    });

    test.each(['pending', 'done', 'ignored'] as const)(
      'an id that is %s is a duplicate and changes nothing',
      async (state) => {
        await using opened = await open();
        const { store, transactions } = opened;
        await transactions.write((tx) => store.insert(tx, aDelivery('a')));
        if (state !== 'pending') {
          await transactions.write((tx) => store.settle(tx, 'a', { state, note: 'so it was' }));
        }
        const before = await store.find('a');

        const result = await transactions.write((tx) => store.insert(tx, aDelivery('a', 9000)));

        expect(result).toBe('duplicate');
        expect(await store.find('a')).toEqual(before);
      },
    );

    test('an id that had failed is opened again by a redelivery, with the new bytes', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      await transactions.write((tx) => store.settle(tx, 'a', { state: 'failed', note: 'no luck' }));
      await transactions.write((tx) => store.dropBodies(tx, 5000, 10));

      const result = await transactions.write((tx) => store.insert(tx, aDelivery('a', 9000)));

      expect(result).toBe('reopened');
      const claimed = await transactions.write((tx) => store.claim(tx, 9000, []));
      expect(claimed).toMatchObject({ id: 'a', attempt: 1 });
      expect(claimed?.body.byteLength).toBe(body.byteLength);
    });

    test('what is due goes in the order of arrival, a retry at its old place', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      for (const [id, atMs] of [
        ['c', 2000],
        ['b', 1000],
        ['a', 1000],
        ['later', 1000],
      ] as const) {
        await transactions.write((tx) => store.insert(tx, aDelivery(id, atMs)));
      }
      await transactions.write((tx) => store.retryLater(tx, 'b', 5000, 'no luck'));
      await transactions.write((tx) => store.retryLater(tx, 'later', 5001, 'no luck'));

      const order: string[] = [];
      for (let index = 0; index < 3; index += 1) {
        await transactions.write(async (tx) => {
          const claimed = await store.claim(tx, 5000, []);
          order.push(claimed?.id ?? '');
          await store.settle(tx, claimed?.id ?? '', { state: 'done', note: '' });
        });
      }

      expect(order).toEqual(['c', 'b', 'a']);
      expect(await store.nextDueMs([])).toBe(5001);
    });

    test('busy lanes are passed over', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      const other = { ...aDelivery('b'), lane: 'repository 6' };
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      await transactions.write((tx) => store.insert(tx, other));
      await transactions.write((tx) => store.retryLater(tx, 'b', 7000, 'no luck'));

      const claim = (lanes: string[]) => transactions.write((tx) => store.claim(tx, 7000, lanes));
      expect(await claim(['repository 5', 'installation 1'])).toMatchObject({ id: 'b' });
      expect(await claim(['repository 5', 'repository 6'])).toBeNull();
      expect(await store.nextDueMs(['repository 5'])).toBe(7000);
      expect(await store.nextDueMs(['repository 5', 'repository 6'])).toBeNull();
    });

    test('what is due too late is brought forward, the rest and what is settled stay', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      for (const [id, nextAtMs] of [
        ['soon', 5000],
        ['late', 5001],
        ['over', 9000],
      ] as const) {
        await transactions.write((tx) => store.insert(tx, aDelivery(id)));
        await transactions.write((tx) => store.retryLater(tx, id, nextAtMs, 'no luck'));
      }
      await transactions.write((tx) => store.settle(tx, 'over', { state: 'failed', note: 'no' }));

      await transactions.write((tx) => store.bringForward(tx, 5000, 300));

      const times = await Promise.all(['soon', 'late', 'over'].map((id) => store.find(id)));
      expect(times.map((record) => record?.nextAtMs)).toEqual([5000, 300, 9000]);
    });

    test('lists the newest first, by state and event, page by page', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      for (const id of ['a', 'b', 'c', 'd']) {
        const event = id === 'c' ? 'ping' : 'push';
        await transactions.write((tx) => store.insert(tx, { ...aDelivery(id), event }));
      }
      for (const id of ['a', 'c', 'd']) {
        await transactions.write((tx) => store.settle(tx, id, { state: 'failed', note: id }));
      }
      const all = { state: null, event: null, before: null, limit: 10 };
      const ids = async (filter: Partial<DeliveryFilter>) =>
        (await store.list({ ...all, ...filter })).map(({ id }) => id);

      expect(await ids({})).toEqual(['d', 'c', 'b', 'a']);
      expect(await ids({ state: 'failed' })).toEqual(['d', 'c', 'a']);
      expect(await ids({ state: 'failed', event: 'push' })).toEqual(['d', 'a']);
      const [first] = await store.list({ ...all, limit: 1 });
      expect(await ids({ before: first?.seq ?? 0, limit: 2 })).toEqual(['c', 'b']);
    });

    test('says how many wait, since when, and how many are given up and can be replayed', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      expect(await store.standing()).toEqual({ pending: 0, pendingSinceMs: null, failed: 0 });
      for (const [id, atMs] of [
        ['a', 3000],
        ['b', 2000],
        ['c', 1000],
        ['d', 900],
      ] as const) {
        await transactions.write((tx) => store.insert(tx, aDelivery(id, atMs)));
      }
      for (const id of ['c', 'd']) {
        await transactions.write((tx) => store.settle(tx, id, { state: 'failed', note: 'no' }));
      }
      await transactions.write((tx) => store.dropBodies(tx, 1000, 10));

      expect(await store.standing()).toEqual({ pending: 2, pendingSinceMs: 2000, failed: 1 });
      expect(await store.find('d')).toMatchObject({ size: null });
      expect(await store.body('d')).toBeNull();
    });

    test('forgets what is old and settled, at most so many at once', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      for (const id of ['a', 'b', 'c', 'waiting']) {
        await transactions.write((tx) => store.insert(tx, aDelivery(id, 1000)));
        if (id === 'waiting') continue;
        await transactions.write((tx) => store.settle(tx, id, { state: 'done', note: '' }));
      }
      const forget = (beforeMs: number) => transactions.write((tx) => store.forget(tx, beforeMs, 2));

      expect([await forget(1000), await forget(1001), await forget(1001), await forget(1001)]).toEqual([
        0, 2, 1, 0,
      ]);
      expect(await store.find('a')).toBeNull();
      expect(await store.find('waiting')).not.toBeNull();
    });

    test('a claim counts the attempt and leaves the delivery pending; a retry waits until its time', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      await transactions.write((tx) => store.claim(tx, 1000, []));
      expect((await transactions.write((tx) => store.claim(tx, 1000, [])))?.attempt).toBe(2);

      await transactions.write((tx) => store.retryLater(tx, 'a', 4000, 'GitHub is down'));

      expect(await transactions.write((tx) => store.claim(tx, 3999, []))).toBeNull();
      expect(await store.nextDueMs([])).toBe(4000);
      expect(await store.find('a')).toMatchObject({ state: 'pending', attempts: 2, note: 'GitHub is down' });
    });

    test('a claim that is given back counts as no attempt, and is due', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      await transactions.write((tx) => store.claim(tx, 1000, []));
      await transactions.write((tx) => store.retryLater(tx, 'a', 9000, 'in hand'));

      await transactions.write((tx) => store.giveBack(tx, 'a', 2000, 'stopped'));

      expect(await store.find('a')).toMatchObject({
        ...{ state: 'pending', attempts: 0, nextAtMs: 2000, note: 'stopped' },
      });
      expect(await transactions.write((tx) => store.claim(tx, 2000, []))).toMatchObject({ attempt: 1 });
    });

    test('a settled delivery can be opened again while its body is kept', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      const reopen = (id: string) => transactions.write((tx) => store.reopen(tx, id, 7000));
      expect(await reopen('a')).toBe(false);
      expect(await reopen('unknown')).toBe(false);
      await transactions.write((tx) => store.settle(tx, 'a', { state: 'ignored', note: 'why not' }));

      expect(await reopen('a')).toBe(true);

      expect(await store.find('a')).toMatchObject({ state: 'pending', attempts: 0, nextAtMs: 7000 });
      await transactions.write((tx) => store.settle(tx, 'a', { state: 'done', note: '' }));
      await transactions.write((tx) => store.dropBodies(tx, 9000, 10));
      expect(await reopen('a')).toBe(false);
    });

    test('only old bodies of settled deliveries are dropped, at most so many at once, and ids stay', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      for (const id of ['a', 'b', 'c', 'waiting']) {
        await transactions.write((tx) => store.insert(tx, aDelivery(id, 1000)));
        if (id === 'waiting') continue;
        await transactions.write((tx) => store.settle(tx, id, { state: 'done', note: '' }));
      }
      const drop = (beforeMs: number) => transactions.write((tx) => store.dropBodies(tx, beforeMs, 2));

      expect([await drop(1000), await drop(1001), await drop(1001), await drop(1001)]).toEqual([0, 2, 1, 0]);

      expect(await transactions.write((tx) => store.insert(tx, aDelivery('a', 2000)))).toBe('duplicate');
      expect((await transactions.write((tx) => store.claim(tx, 2000, [])))?.body.byteLength).toBe(
        body.byteLength,
      );
    });

    test('what a rolled back transaction stored was never there', async () => {
      await using opened = await open();
      const { store, transactions } = opened;

      const work = transactions.write(async (tx) => {
        await store.insert(tx, aDelivery('a'));
        throw new Error('changed my mind');
      });

      await expect(work).rejects.toThrow('changed my mind');
      expect(await store.find('a')).toBeNull();
    });
  });
}
