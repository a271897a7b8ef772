import type { Logger } from '../../logger.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import type { Transactions } from '../../tx.ts';
import type { GithubApp } from '../github-app.ts';
import { githubUnavailable, statusOf } from '../github-error.ts';
import {
  type InstallationJson,
  installationJson,
  repositoryJson,
  toAccount,
  toRepository,
} from '../github-json.ts';
import type { InstallationStore } from '../installation-store.ts';

/**
 * Makes what we believe equal to what GitHub says, by asking: events get lost, come late, and lack half of
 * it (an installation's payload does not name default branches).
 */
export interface Reconciler {
  /**
   * Every installation: at start, and daily. False when GitHub did not answer all of it; what it did answer
   * is stored, the rest is logged, and the caller comes back later.
   */
  all(): Promise<boolean>;
  /** One installation, and what is the case there. Throws `github-unavailable`. */
  installation(installationId: number): Promise<string>;
}

export function createReconciler(parts: {
  app: Pick<GithubApp, 'asApp' | 'asInstallation'>;
  store: RepositoryStore & InstallationStore;
  transactions: Transactions;
  logger: Logger;
  /** Repositories whose events we may have missed: their files want to be looked at. */
  onSeen: (repositoryIds: readonly number[]) => void;
}): Reconciler {
  const { app, store, transactions, logger, onSeen } = parts;

  async function listInstallations(): Promise<readonly InstallationJson[]> {
    const { rest, paginate } = await app.asApp();
    const found = await paginate(rest.apps.listInstallations, { per_page: 100 });
    return found.map((json) => installationJson.parse(json));
  }

  async function listRepositories(installationId: number) {
    const { rest, paginate } = await app.asInstallation(installationId);
    const found = await paginate(rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
    return found.map((json) => toRepository(repositoryJson.parse(json), installationId));
  }

  async function reconcileOne(installation: InstallationJson, isDaily: boolean): Promise<string> {
    const account = toAccount(installation);
    if (!account) return 'the installation is not on an account that has repositories';
    if (account.suspended) {
      // GitHub refuses tokens of a suspended installation, so its repositories cannot be listed.
      await transactions.write((tx) => store.saveAccount(tx, account));
      return `the installation on ${account.login} is suspended`;
    }
    const repositories = await listRepositories(installation.id);
    const seen = new Set(repositories.map(({ id }) => id));
    const before = await store.repositoryIds(installation.id);
    const gone = before.filter((id) => !seen.has(id));
    const wasAway = (await store.findAccount(account.id))?.suspended ?? true;
    await transactions.write(async (tx) => {
      await store.saveAccount(tx, account);
      for (const repository of repositories) {
        await store.saveRepository(tx, { ...repository, accountId: account.id });
      }
      await store.markRemoved(tx, gone);
    });
    // Each is a question to GitHub: when one is added to hundreds, the others have nothing new.
    const known = new Set(isDaily || wasAway ? [] : before);
    onSeen([...seen].filter((id) => !known.has(id)));
    return `${account.login}: ${repositories.length} repositories, ${gone.length} gone`;
  }

  async function reconcileAll(): Promise<boolean> {
    const installations = await listInstallations();
    const present = new Set(installations.map(({ id }) => id));
    for (const id of await store.installationIds()) {
      if (!present.has(id)) await transactions.write((tx) => store.forgetInstallation(tx, id));
    }
    let isComplete = true;
    for (const installation of installations) {
      try {
        await reconcileOne(installation, true);
      } catch (error) {
        isComplete = false;
        logger.warn({ err: error, installation: installation.id }, 'an installation could not be reconciled');
      }
    }
    logger.info({ installations: installations.length, isComplete }, 'installations reconciled');
    return isComplete;
  }

  return {
    async all() {
      try {
        return await reconcileAll();
      } catch (error) {
        logger.warn({ err: error }, 'GitHub could not be asked for the installations of the App');
        return false;
      }
    },

    async installation(installationId) {
      try {
        const { rest } = await app.asApp();
        const { data } = await rest.apps.getInstallation({ installation_id: installationId });
        return await reconcileOne(installationJson.parse(data), false);
      } catch (error) {
        if (statusOf(error) !== 404) throw githubUnavailable('which repositories the App may see', error);
        await transactions.write((tx) => store.forgetInstallation(tx, installationId));
        return 'the installation is gone';
      }
    },
  };
}
