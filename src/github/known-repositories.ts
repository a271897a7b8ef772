import { isSameRepository, type Repository } from '../stacks/repository.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { Transactions } from '../tx.ts';
import type { GithubApp } from './github-app.ts';
import { githubUnavailable, statusOf } from './github-error.ts';
import { type RepositoryJson, repositoryJson, toRepository } from './github-json.ts';
import type { Reconciler } from './reconcile/installations.ts';
import { splitFullName } from './repositories.ts';

/**
 * Keeps what we believe about accounts and repositories up with what GitHub says in passing: names and default
 * branches come with every event. An event can be days old when it comes (retries, replays, redeliveries), and
 * a public repository taken for a private one would show everybody what only insiders may see. So a payload is
 * never believed: where it differs from what we know, GitHub is asked.
 */
export interface KnownRepositories {
  /**
   * What the payload of an event says. False when the App does not see the repository (any more). Throws
   * `github-unavailable` when GitHub must be asked and does not answer.
   */
  remember(json: RepositoryJson, installationId: number): Promise<boolean>;
  /** What GitHub has just answered to a question, of a repository that we know. Throws as above. */
  learn(json: RepositoryJson, installationId: number): Promise<void>;
  markRemoved(repositoryIds: readonly number[]): Promise<void>;
  forgetInstallation(installationId: number): Promise<void>;
}

export function createKnownRepositories(parts: {
  app: Pick<GithubApp, 'asInstallation'>;
  store: RepositoryStore;
  reconciler: Pick<Reconciler, 'installation'>;
  transactions: Transactions;
}): KnownRepositories {
  const { app, store, reconciler, transactions } = parts;

  async function isKnownAs(json: RepositoryJson, installationId: number): Promise<boolean> {
    const account = await store.findAccount(json.owner.id);
    if (account?.installationId !== installationId || account.login !== json.owner.login) return false;
    const known = await store.find(json.id);
    return known !== null && isSameRepository(known, toRepository(json, installationId));
  }

  async function learn(json: RepositoryJson, installationId: number): Promise<void> {
    if (await isKnownAs(json, installationId)) return;
    const account = await store.findAccount(json.owner.id);
    if (account?.installationId !== installationId) {
      // It was transferred: who sees it now is more than a question about it.
      await reconciler.installation(installationId);
      return;
    }
    await transactions.write(async (tx) => {
      // An answer about a repository does not say whether the installation is suspended: that is kept.
      await store.saveAccount(tx, { ...account, login: json.owner.login });
      await store.saveRepository(tx, toRepository(json, installationId));
    });
  }

  /** One cheap question. Null when it takes more than that to know whether we see it. */
  async function ask({ fullName, installationId, id }: Repository): Promise<RepositoryJson | null> {
    const name = splitFullName(fullName);
    if (!name) return null;
    try {
      const { rest } = await app.asInstallation(installationId);
      const json = repositoryJson.parse((await rest.repos.get(name)).data);
      // The name may belong to another repository by now.
      return json.id === id ? json : null;
    } catch (error) {
      const status = statusOf(error);
      if (status === 403 || status === 404) return null;
      throw githubUnavailable(`about ${fullName}`, error);
    }
  }

  return {
    async remember(json, installationId) {
      if (await isKnownAs(json, installationId)) return true;
      const known = await store.find(json.id);
      const now = known?.installationId === installationId ? await ask(known) : null;
      if (now) await learn(now, installationId);
      else await reconciler.installation(installationId);
      return (await store.find(json.id)) !== null;
    },
    learn,
    markRemoved: (ids) => transactions.write((tx) => store.markRemoved(tx, ids)),
    forgetInstallation: (id) => transactions.write((tx) => store.forgetInstallation(tx, id)),
  };
}
