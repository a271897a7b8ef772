import type { Repository } from '../stacks/repository.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { Transactions } from '../tx.ts';
import { type RepositoryJson, toRepository } from './github-json.ts';
import type { Reconciler } from './reconcile.ts';

/**
 * Keeps what we believe about accounts and repositories up with what GitHub says in passing: names and default
 * branches come with every event. Events overtake each other (retries, replays, other lanes of the inbox), so
 * what is news and may be old is asked instead (reconcile.ts).
 */
export interface KnownRepositories {
  /**
   * False when the App does not see the repository (any more). A payload is believed about a repository that
   * we know, when it is fresh. Throws `github-unavailable` when it must be asked and GitHub does not answer.
   */
  remember(json: RepositoryJson, installationId: number, isFresh: boolean): Promise<boolean>;
  markRemoved(repositoryIds: readonly number[]): Promise<void>;
  forgetInstallation(installationId: number): Promise<void>;
}

export function createKnownRepositories(parts: {
  store: RepositoryStore;
  reconciler: Pick<Reconciler, 'installation'>;
  transactions: Transactions;
}): KnownRepositories {
  const { store, reconciler, transactions } = parts;

  return {
    async remember(json, installationId, isFresh) {
      const { login } = json.owner;
      const repository = toRepository(json, installationId);
      const account = await store.findAccount(json.owner.id);
      const known = await store.find(repository.id);
      const isOurs = account?.installationId === installationId && known !== null;
      if (isOurs && account.login === login && isSameRepository(known, repository)) return true;
      if (isOurs && isFresh) {
        await transactions.write(async (tx) => {
          // The payload of a repository does not say whether the installation is suspended: that is kept.
          if (account.login !== login) await store.saveAccount(tx, { ...account, login });
          await store.saveRepository(tx, repository);
        });
        return true;
      }
      await reconciler.installation(installationId);
      return (await store.find(repository.id)) !== null;
    },
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
