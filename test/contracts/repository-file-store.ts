import { describe, expect, test } from 'vitest';
import type {
  JudgedFile,
  RepositoryFileStore,
} from '../../src/github/repository-file/repository-file-store.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  /** Knows the repositories 21 and 22. */
  store: RepositoryFileStore;
  transactions: Transactions;
}

const judged: JudgedFile = {
  repositoryId: 21,
  commit: 'a'.repeat(40),
  blob: 'b'.repeat(40),
  problems: [{ line: 3, column: 7, message: 'unknown key nmae; did you mean name?' }],
};

/** What every store of judged repository files must do. */
export function repositoryFileStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the store of repository files on ${name}`, () => {
    test('gives back what was judged last', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      expect(await store.find(21)).toBeNull();

      await transactions.write((tx) => store.save(tx, judged));
      expect(await store.find(21)).toEqual(judged);
      expect(await store.find(22)).toBeNull();

      const good = { ...judged, commit: 'c'.repeat(40), problems: [] };
      await transactions.write(async (tx) => {
        await store.save(tx, good);
        expect(await store.find(21, tx)).toEqual(good);
      });
      expect(await store.find(21)).toEqual(good);
    });

    test('forgets a file that is gone, and no other', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write(async (tx) => {
        await store.save(tx, judged);
        await store.save(tx, { ...judged, repositoryId: 22 });
        await store.remove(tx, 21);
        await store.remove(tx, 21);
      });

      expect([await store.find(21), (await store.find(22))?.commit]).toEqual([null, judged.commit]);
    });

    test('remembers what is unread, with a file or without, and of no other repository', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      const unread = async () => [
        await store.isUnread(21),
        await store.isUnread(22),
        await store.isUnread(23),
      ];
      expect(await unread()).toEqual([false, false, false]);

      await transactions.write((tx) => store.setUnread(tx, 21, true));
      await transactions.write((tx) => store.setUnread(tx, 23, true));
      expect(await unread()).toEqual([true, false, false]);

      await transactions.write((tx) => store.save(tx, judged));
      expect(await unread()).toEqual([true, false, false]);
      await transactions.write((tx) => store.setUnread(tx, 21, false));
      expect(await unread()).toEqual([false, false, false]);
      expect(await store.find(21)).toEqual(judged);
    });

    test('keeps nothing of a transaction that failed', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      const failing = transactions.write(async (tx) => {
        await store.save(tx, judged);
        throw new Error('rolled back');
      });

      await expect(failing).rejects.toThrow('rolled back');
      expect(await store.find(21)).toBeNull();
    });
  });
}
