import { describe, expect, test } from 'vitest';
import type { InboxStore } from '../../src/github/inbox-store.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: InboxStore;
  transactions: Transactions;
}

const body = Buffer.from('{"zen":"Design for failure."}');
const aDelivery = (id: string, receivedAtMs = 1000) => ({ id, event: 'push', body, receivedAtMs });

/** What every store of GitHub's deliveries must do. */
export function inboxStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the inbox store on ${name}`, () => {
    test('a delivery is stored with its bytes, pending and due', async () => {
      await using opened = await open();
      const { store, transactions } = opened;

      expect(await transactions.write((tx) => store.insert(tx, aDelivery('a')))).toBe('stored');

      expect(await store.nextDueMs()).toBe(1000);
      expect(await store.find('a')).toEqual({
        id: 'a',
        event: 'push',
        state: 'pending',
        attempts: 0,
        receivedAtMs: 1000,
        nextAtMs: 1000,
        note: null,
      });
      expect(await transactions.write((tx) => store.claim(tx, 999))).toBeNull();
      const claimed = await transactions.write((tx) => store.claim(tx, 1000));
      expect(claimed).toMatchObject({ id: 'a', event: 'push', attempt: 1 });
      expect(Buffer.from(claimed?.body ?? [])).toEqual(body);
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
      const claimed = await transactions.write((tx) => store.claim(tx, 9000));
      expect(claimed).toMatchObject({ id: 'a', attempt: 1 });
      expect(claimed?.body.byteLength).toBe(body.byteLength);
    });

    test('the longest due goes first, in the order of arrival within a millisecond', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      for (const [id, atMs] of [
        ['c', 2000],
        ['b', 1000],
        ['a', 1000],
      ] as const) {
        await transactions.write((tx) => store.insert(tx, aDelivery(id, atMs)));
      }

      const order: string[] = [];
      for (let index = 0; index < 3; index += 1) {
        await transactions.write(async (tx) => {
          const claimed = await store.claim(tx, 5000);
          order.push(claimed?.id ?? '');
          await store.settle(tx, claimed?.id ?? '', { state: 'done', note: '' });
        });
      }

      expect(order).toEqual(['b', 'a', 'c']);
      expect(await store.nextDueMs()).toBeNull();
    });

    test('a claim counts the attempt and leaves the delivery pending; a retry waits until its time', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.insert(tx, aDelivery('a')));
      await transactions.write((tx) => store.claim(tx, 1000));
      expect((await transactions.write((tx) => store.claim(tx, 1000)))?.attempt).toBe(2);

      await transactions.write((tx) => store.retryLater(tx, 'a', 4000, 'GitHub is down'));

      expect(await transactions.write((tx) => store.claim(tx, 3999))).toBeNull();
      expect(await store.nextDueMs()).toBe(4000);
      expect(await store.find('a')).toMatchObject({ state: 'pending', attempts: 2, note: 'GitHub is down' });
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
      expect((await transactions.write((tx) => store.claim(tx, 2000)))?.body.byteLength).toBe(
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
