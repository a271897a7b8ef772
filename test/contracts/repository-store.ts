import { describe, expect, test } from 'vitest';
import type { InstallationStore } from '../../src/github/installation-store.ts';
import type { RepositoryStore } from '../../src/stacks/repository-store.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  store: RepositoryStore & InstallationStore;
  transactions: Transactions;
}

const acme = { id: 1, login: 'acme', installationId: 11, suspended: false };
const infra = {
  id: 100,
  accountId: 1,
  installationId: 11,
  fullName: 'acme/infra',
  defaultBranch: 'main',
  isPrivate: true,
};
const shop = { ...infra, id: 101, fullName: 'acme/shop', isPrivate: false };

/** What every store of accounts and repositories must do. */
export function repositoryStoreContract(name: string, open: () => Promise<Opened>): void {
  async function withAcme() {
    const opened = await open();
    const { store, transactions } = opened;
    await transactions.write(async (tx) => {
      await store.saveAccount(tx, acme);
      await store.saveRepository(tx, infra);
      await store.saveRepository(tx, shop);
    });
    return opened;
  }

  describe(`the repository store on ${name}`, () => {
    test('accounts and repositories come back as they were saved', async () => {
      await using opened = await withAcme();
      const { store } = opened;

      expect(await store.findAccount(1)).toEqual(acme);
      expect(await store.find(100)).toEqual(infra);
      expect(await store.find(101)).toEqual(shop);
      expect([await store.find(1), await store.findAccount(100)]).toEqual([null, null]);
      expect(await store.installationIds()).toEqual([11]);
      expect(await store.repositoryIds(11)).toEqual([100, 101]);
    });

    test('accounts are listed in the order of their ids, those without an installation too', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;
      const ada = { id: 5, login: 'Ada', installationId: 12, suspended: true };
      await transactions.write(async (tx) => {
        await store.saveAccount(tx, ada);
        await store.forgetInstallation(tx, 11);
      });
      const list = (login: string | null, after: number, limit: number) =>
        store.listAccounts({ login, after, limit });

      expect(await list(null, 0, 9)).toEqual([{ ...acme, installationId: null }, ada]);
      expect(await list('ada', 0, 9)).toEqual([ada]);
      expect((await list(null, 0, 1)).map(({ id }) => id)).toEqual([1]);
      expect((await list(null, 1, 9)).map(({ id }) => id)).toEqual([5]);
    });

    test('saving again refreshes names, branches, visibility and suspension', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;
      const renamed = { ...infra, fullName: 'acme/infra-2', defaultBranch: 'trunk', isPrivate: false };
      const suspended = { ...acme, login: 'Acme-Inc', suspended: true };

      await transactions.write(async (tx) => {
        await store.saveAccount(tx, suspended);
        await store.saveRepository(tx, renamed);
      });

      expect(await store.find(100)).toEqual(renamed);
      expect(await store.findAccount(1)).toEqual(suspended);
    });

    test('an archived repository is known as one until it is none', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;
      await transactions.write((tx) => store.saveRepository(tx, { ...infra, isArchived: true }));
      expect(await store.find(100)).toEqual({ ...infra, isArchived: true });

      await transactions.write((tx) => store.saveRepository(tx, infra));

      expect(await store.find(100)).toEqual(infra);
    });

    test('a removed repository is not found until it is saved again', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;

      await transactions.write((tx) => store.markRemoved(tx, [100, 999]));

      expect(await store.find(100)).toBeNull();
      expect(await store.repositoryIds(11)).toEqual([101]);
      await transactions.write((tx) => store.saveRepository(tx, infra));
      expect(await store.find(100)).toEqual(infra);
    });

    test('a forgotten installation takes its repositories with it, and no others', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;
      await transactions.write(async (tx) => {
        await store.saveAccount(tx, { id: 2, login: 'globex', installationId: 22, suspended: false });
        await store.saveRepository(tx, { ...infra, id: 200, accountId: 2, installationId: 22 });
        await store.forgetInstallation(tx, 11);
      });

      expect(await store.findAccount(1)).toEqual({ ...acme, installationId: null });
      expect([await store.find(100), await store.find(101)]).toEqual([null, null]);
      expect(await store.find(200)).not.toBeNull();
      expect(await store.installationIds()).toEqual([22]);
    });

    test('forgetting an old installation does not touch what a new one brought back', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;
      await transactions.write(async (tx) => {
        await store.saveAccount(tx, { ...acme, installationId: 12 });
        await store.saveRepository(tx, { ...infra, installationId: 12 });
        await store.forgetInstallation(tx, 11);
      });

      expect(await store.findAccount(1)).toMatchObject({ installationId: 12 });
      expect(await store.find(100)).toMatchObject({ installationId: 12 });
      expect(await store.find(101)).toBeNull();
    });

    test('what the App works on is listed page by page, of all accounts or one', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;
      await transactions.write(async (tx) => {
        await store.saveAccount(tx, { id: 2, login: 'globex', installationId: 22, suspended: false });
        await store.saveRepository(tx, { ...infra, id: 99, accountId: 2, installationId: 22 });
        await store.saveAccount(tx, { id: 3, login: 'asleep', installationId: 33, suspended: true });
        await store.saveRepository(tx, { ...infra, id: 300, accountId: 3, installationId: 33 });
        await store.saveRepository(tx, { ...infra, id: 102 });
        await store.markRemoved(tx, [102]);
      });
      const ids = async (account: string | null, after: number | null, limit: number) =>
        (await store.list({ account, after, limit })).map(({ repository }) => repository.id);

      expect(await ids(null, null, 2)).toEqual([99, 100]);
      expect(await ids(null, 100, 9)).toEqual([101]);
      expect(await ids('ACME', null, 9)).toEqual([100, 101]);
      const [first] = await store.list({ account: 'acme', after: null, limit: 1 });
      expect(first).toEqual({ account: 'acme', repository: infra });
    });

    test('a login that GitHub gave to another account belongs to that one alone', async () => {
      await using opened = await withAcme();
      const { store, transactions } = opened;

      await transactions.write((tx) =>
        store.saveAccount(tx, { id: 2, login: 'ACME', installationId: 22, suspended: false }),
      );

      expect((await store.findAccount(2))?.login).toBe('ACME');
      expect((await store.findAccount(1))?.login).toBe('~1');
    });
  });
}
