import { describe, expect, test } from 'vitest';
import type { BranchHeadStore } from '../../src/runs/branch-heads.ts';
import type { Transactions, Tx } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: BranchHeadStore;
  transactions: Transactions;
  /** A stack of repository 21 that follows the branch. */
  addStack(tx: Tx, key: string, branch: string): Promise<void>;
  removeStack(tx: Tx, key: string): Promise<void>;
}

/** What every store of branches that stacks follow must do. Repository 21 is there. */
export function branchHeadStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the store of branch heads on ${name}`, () => {
    test('keeps where each branch is, also that there is none', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      expect(await store.find(21, 'main')).toBeNull();
      await transactions.write(async (tx) => {
        await store.save(tx, 21, 'main', { hash: 'a1', seenAtMs: 1 });
        await store.save(tx, 21, 'release', { hash: null, seenAtMs: 2 });
        await store.save(tx, 21, 'main', { hash: 'b2', seenAtMs: 3 });
        expect(await store.find(21, 'main', tx)).toEqual({ hash: 'b2', seenAtMs: 3 });
      });

      expect(await store.find(21, 'release')).toEqual({ hash: null, seenAtMs: 2 });
    });

    test('names each branch that stacks follow once', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      await transactions.write(async (tx) => {
        await opened.addStack(tx, 'one', 'main');
        await opened.addStack(tx, 'two', 'main');
        await opened.addStack(tx, 'three', 'feature/a "b"');
      });

      const tracked = await store.tracked();

      expect(tracked.map(({ repository, branch }) => [repository.id, branch])).toEqual([
        [21, 'feature/a "b"'],
        [21, 'main'],
      ]);
    });

    test('forgets branches that no stack follows any more, and no others', async () => {
      await using opened = await open();
      const { store, transactions } = opened;
      const head = { hash: 'a1', seenAtMs: 1 };
      await transactions.write(async (tx) => {
        await opened.addStack(tx, 'one', 'main');
        await opened.addStack(tx, 'two', 'release');
        for (const branch of ['main', 'release', 'never']) await store.save(tx, 21, branch, head);
        await opened.removeStack(tx, 'two');
        await store.forgetUntracked(tx);
      });

      expect(await store.find(21, 'main')).toEqual(head);
      expect([await store.find(21, 'release'), await store.find(21, 'never')]).toEqual([null, null]);
    });
  });
}
