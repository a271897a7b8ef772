import type { Account, Repository } from '../stacks/repository.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { Transactions } from '../tx.ts';
import { type RepositoryJson, toRepository } from './github-json.ts';

/**
 * Keeps what we believe about accounts and repositories up with what GitHub says in passing. It asks GitHub
 * nothing (reconcile.ts does); names and default branches come with every event.
 */
export interface KnownRepositories {
  /** Writes only when something differs; a repository that had been removed is back. */
  remember(json: RepositoryJson, installationId: number): Promise<void>;
  saveAccount(account: Account): Promise<void>;
  markRemoved(repositoryIds: readonly number[]): Promise<void>;
  forgetInstallation(installationId: number): Promise<void>;
}

export function createKnownRepositories(parts: {
  store: RepositoryStore;
  transactions: Transactions;
}): KnownRepositories {
  const { store, transactions } = parts;

  /** The payload of a repository does not say whether the installation is suspended: that is kept. */
  async function accountOf(json: RepositoryJson, installationId: number): Promise<[Account, boolean]> {
    const known = await store.findAccount(json.owner.id);
    const isSame = known?.login === json.owner.login && known.installationId === installationId;
    if (isSame) return [known, true];
    const isSuspended = known?.installationId === installationId && known.suspended;
    return [{ id: json.owner.id, login: json.owner.login, installationId, suspended: isSuspended }, false];
  }

  return {
    async remember(json, installationId) {
      const [account, isKnownAccount] = await accountOf(json, installationId);
      const repository = toRepository(json, installationId);
      const known = await store.find(repository.id);
      if (isKnownAccount && known && isSameRepository(known, repository)) return;
      await transactions.write(async (tx) => {
        if (!isKnownAccount) await store.saveAccount(tx, account);
        await store.saveRepository(tx, repository);
      });
    },
    saveAccount: (account) => transactions.write((tx) => store.saveAccount(tx, account)),
    markRemoved: (ids) => transactions.write((tx) => store.markRemoved(tx, ids)),
    forgetInstallation: (id) => transactions.write((tx) => store.forgetInstallation(tx, id)),
  };
}

function isSameRepository(a: Repository, b: Repository): boolean {
  return (
    a.accountId === b.accountId &&
    a.installationId === b.installationId &&
    a.fullName === b.fullName &&
    a.defaultBranch === b.defaultBranch &&
    a.isPrivate === b.isPrivate
  );
}
