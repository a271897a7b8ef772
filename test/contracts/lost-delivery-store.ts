import { describe, expect, test } from 'vitest';
import type { LostDeliveryStore } from '../../src/github/reconcile/lost-delivery-store.ts';
import type { Transactions, Tx } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: LostDeliveryStore;
  transactions: Transactions;
  /** Puts a delivery into the inbox of the same database. */
  arrive(tx: Tx, guid: string): Promise<unknown>;
}

const aDelivery = (guid: string, deliveredAtMs = 1000) => ({
  ...{ guid, deliveryId: 7, event: 'push', repositoryId: 21, deliveredAtMs },
});

/** What every store of deliveries that never arrived must do. */
export function lostDeliveryStoreContract(name: string, open: () => Promise<Opened>): void {
  async function withTwo() {
    const opened = await open();
    const { store, transactions } = opened;
    await transactions.write(async (tx) => {
      await store.add(tx, aDelivery('b', 2000), 5000);
      await store.add(tx, aDelivery('a', 1000), 5000);
    });
    return opened;
  }

  describe(`the store of lost deliveries on ${name}`, () => {
    test('remembers how far the list was read', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      expect(await store.readUntilMs()).toBeNull();
      for (const ms of [5000, 4000]) await transactions.write((tx) => store.setReadUntil(tx, ms));
      expect(await store.readUntilMs()).toBe(4000);
    });

    test('knows what the inbox does not have', async () => {
      await using opened = await open();
      await opened.transactions.write((tx) => opened.arrive(tx, 'a'));
      expect(await opened.store.missingInInbox(['a', 'b'])).toEqual(['b']);
    });

    test('gives those that are due, the oldest first, and each but once', async () => {
      await using opened = await withTwo();
      const { store, transactions } = opened;
      expect(await transactions.write((tx) => store.add(tx, aDelivery('a', 9000), 0))).toBe(false);

      expect([await store.due(4999), await store.nextDueMs()]).toEqual([null, 5000]);
      expect(await store.due(5000)).toEqual({ ...aDelivery('a', 1000), asks: 0 });
    });

    test('counts asks, takes them back, and puts the next look off', async () => {
      await using opened = await withTwo();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.asked(tx, 'a', 1, 9000));
      expect(await store.due(8999)).toMatchObject({ guid: 'b' });
      await transactions.write((tx) => store.remove(tx, 'b'));
      expect(await store.due(9000)).toMatchObject({ guid: 'a', asks: 1 });

      await transactions.write((tx) => store.asked(tx, 'a', -1, 9500));
      await transactions.write((tx) => store.bringForward(tx, 9499, 100));

      expect(await store.due(100)).toMatchObject({ guid: 'a', asks: 0 });
    });

    test('what is given up is neither due nor found again, until it is forgotten', async () => {
      await using opened = await withTwo();
      const { store, transactions } = opened;
      for (const guid of ['a', 'b']) await transactions.write((tx) => store.giveUp(tx, guid));
      expect([await store.due(9e9), await store.nextDueMs()]).toEqual([null, null]);
      expect(await transactions.write((tx) => store.add(tx, aDelivery('a'), 0))).toBe(false);

      await transactions.write((tx) => store.forget(tx, 2000));

      expect(await transactions.write((tx) => store.add(tx, aDelivery('b'), 0))).toBe(false);
      expect(await transactions.write((tx) => store.add(tx, aDelivery('a'), 0))).toBe(true);
    });

    test('is awaited as long as it waits and has not arrived', async () => {
      await using opened = await withTwo();
      const { store, transactions } = opened;
      expect(await store.isAwaited('push', 21)).toBe(true);
      expect([await store.isAwaited('push', 22), await store.isAwaited('check_run', 21)]).toEqual([
        false,
        false,
      ]);

      await transactions.write((tx) => opened.arrive(tx, 'a'));
      expect(await store.isAwaited('push', 21)).toBe(true);
      await transactions.write((tx) => store.giveUp(tx, 'b'));

      expect(await store.isAwaited('push', 21)).toBe(false);
    });
  });
}
