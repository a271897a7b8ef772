import { describe, expect, test } from 'vitest';
import type { SessionRecord, SessionStore } from '../../src/access/session-store.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: SessionStore;
  transactions: Transactions;
}

const aSession = (id: string, change: Partial<SessionRecord> = {}): SessionRecord => ({
  ...{ id, userId: 5, login: 'ada', email: 'ada@example.com', userAgent: 'Firefox' },
  ...{ createdAtMs: 1000, lastUsedAtMs: 1000, grants: null },
  ...change,
});

/** What every store of sessions must do. */
export function sessionStoreContract(name: string, open: () => Promise<Opened>): void {
  async function filled(...sessions: readonly SessionRecord[]) {
    const opened = await open();
    await opened.transactions.write(async (tx) => {
      for (const session of sessions)
        await opened.store.insert(tx, { ...session, hash: `hash ${session.id}` });
    });
    return opened;
  }

  describe(`the session store on ${name}`, () => {
    test('finds a session by its hash alone', async () => {
      const session = aSession('1');
      await using opened = await filled(session);

      expect(await opened.store.findByHash('hash 1')).toEqual(session);
      expect(await opened.store.findByHash('1')).toBeNull();
    });

    test('lists those of a person, newest first', async () => {
      await using opened = await filled(aSession('1'), aSession('2', { userId: 6 }), aSession('3'));

      expect((await opened.store.listOf(5)).map(({ id }) => id)).toEqual(['3', '1']);
    });

    test('remembers when a session was used last', async () => {
      await using opened = await filled(aSession('1'), aSession('2'));
      const { store, transactions } = opened;

      await transactions.write((tx) => store.setUsed(tx, '1', 9000));

      expect((await store.findByHash('hash 1'))?.lastUsedAtMs).toBe(9000);
      expect((await store.findByHash('hash 2'))?.lastUsedAtMs).toBe(1000);
    });

    test('removes one, and all of a person', async () => {
      await using opened = await filled(
        aSession('1'),
        aSession('2'),
        aSession('3'),
        aSession('4', { userId: 6 }),
      );
      const { store, transactions } = opened;

      await transactions.write((tx) => store.removeByHash(tx, 'hash 1'));
      expect((await store.listOf(5)).map(({ id }) => id)).toEqual(['3', '2']);

      expect(await transactions.write((tx) => store.remove(tx, 5, '4'))).toBe(false);
      expect(await transactions.write((tx) => store.remove(tx, 5, '3'))).toBe(true);
      expect((await store.listOf(5)).map(({ id }) => id)).toEqual(['2']);

      expect(await transactions.write((tx) => store.removeAllOf(tx, 5))).toBe(1);
      expect(await store.listOf(5)).toEqual([]);
      expect(await store.listOf(6)).toHaveLength(1);
    });

    test('removes what is too old or was not used for too long', async () => {
      await using opened = await filled(
        aSession('old', { createdAtMs: 1000, lastUsedAtMs: 9000 }),
        aSession('idle', { createdAtMs: 5000, lastUsedAtMs: 5000 }),
        aSession('good', { createdAtMs: 5000, lastUsedAtMs: 9000 }),
      );
      const { store, transactions } = opened;

      expect(await transactions.write((tx) => store.removeExpired(tx, 1000, 8000))).toBe(2);

      expect((await store.listOf(5)).map(({ id }) => id)).toEqual(['good']);
    });
  });
}
