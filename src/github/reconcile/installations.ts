import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { isSameRepository, type Repository } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import type { Transactions } from '../../tx.ts';
import type { ApiBudget } from '../api-budget.ts';
import { failureOf } from '../failure.ts';
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
   * Every installation: at start, and every few minutes. What GitHub did not answer is logged, and the caller
   * comes back later; what it did is stored.
   */
  all(): Promise<AllInstallations>;
  /** One installation, and what is the case there. Throws `github-unavailable`. */
  installation(installationId: number): Promise<string>;
}

export interface AllInstallations {
  readonly isComplete: boolean;
  /** How long GitHub wants to be left alone; 0 when it did not say. */
  readonly waitMs: number;
}

const dayMs = 24 * 60 * 60_000;

export function createReconciler(parts: {
  app: Pick<GithubApp, 'asApp' | 'asInstallation'>;
  store: RepositoryStore & InstallationStore;
  transactions: Transactions;
  budget: Pick<ApiBudget, 'pausedUntilMs'>;
  clock: Clock;
  logger: Logger;
  /** Repositories whose events we may have missed: their files want to be looked at. Each of them once a day. */
  onSeen: (repositoryIds: readonly number[]) => void;
}): Reconciler {
  const { app, store, transactions, budget, clock, logger, onSeen } = parts;
  /** When all repositories were named to be looked at, by installation. */
  const sweptMs = new Map<number, number>();

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

  async function reconcileOne(installation: InstallationJson, nowMs: number | null): Promise<string> {
    const account = toAccount(installation);
    if (!account) return 'the installation is not on an account that has repositories';
    const known = await store.findAccount(account.id);
    const isSame = isDeepStrictEqual(known, account);
    if (account.suspended) {
      // GitHub refuses tokens of a suspended installation, so its repositories cannot be listed.
      if (!isSame) await transactions.write((tx) => store.saveAccount(tx, account));
      return `the installation on ${account.login} is suspended`;
    }
    // Read first: what is told of while GitHub is asked is not gone for not being listed.
    const before = await store.repositoryIds(installation.id);
    const listed = await listRepositories(installation.id);
    const repositories = listed.map((repository) => ({ ...repository, accountId: account.id }));
    const { news, movedBranch } = await changesOf(repositories);
    const seen = new Set(repositories.map(({ id }) => id));
    const gone = before.filter((id) => !seen.has(id));
    if (!isSame || news.length > 0 || gone.length > 0) {
      await transactions.write(async (tx) => {
        await store.saveAccount(tx, account);
        for (const repository of news) await store.saveRepository(tx, repository);
        await store.markRemoved(tx, gone);
      });
    }
    // Each is a question to GitHub: when one is added to hundreds, the others have nothing new.
    const isDue = takeDailyTurn(installation.id, nowMs) || known?.suspended !== false;
    const unchanged = new Set(isDue ? [] : before.filter((id) => !movedBranch.has(id)));
    onSeen([...seen].filter((id) => !unchanged.has(id)));
    return `${account.login}: ${repositories.length} repositories, ${gone.length} gone`;
  }

  /** Those that are not stored like that, and which of these have another default branch, so another file. */
  async function changesOf(repositories: readonly Repository[]) {
    const news: Repository[] = [];
    const movedBranch = new Set<number>();
    for (const repository of repositories) {
      const known = await store.find(repository.id);
      if (known && isSameRepository(known, repository)) continue;
      news.push(repository);
      if (known?.defaultBranch !== repository.defaultBranch) movedBranch.add(repository.id);
    }
    return { news, movedBranch };
  }

  /** Not for one event: null. */
  function takeDailyTurn(installationId: number, nowMs: number | null): boolean {
    if (nowMs === null) return false;
    // Either way: a clock that was set back must not put the next one off.
    if (Math.abs(nowMs - (sweptMs.get(installationId) ?? Number.NEGATIVE_INFINITY)) < dayMs) return false;
    sweptMs.set(installationId, nowMs);
    return true;
  }

  async function reconcileAll(): Promise<AllInstallations> {
    const before = await store.installationIds();
    const installations = await listInstallations();
    const present = new Set(installations.map(({ id }) => id));
    for (const id of before) {
      if (!present.has(id)) await transactions.write((tx) => store.forgetInstallation(tx, id));
    }
    let [isComplete, waitMs] = [true, 0];
    for (const installation of installations) {
      const leftMs = budget.pausedUntilMs(installation.id, 'background') - clock.nowMs();
      if (leftMs > 0) {
        [isComplete, waitMs] = [false, Math.max(waitMs, leftMs)];
        continue;
      }
      try {
        await reconcileOne(installation, clock.nowMs());
      } catch (error) {
        isComplete = false;
        waitMs = Math.max(waitMs, waitOf(error));
        logger.warn({ err: error, installation: installation.id }, 'an installation could not be reconciled');
      }
    }
    logger.debug({ installations: installations.length, isComplete }, 'installations reconciled');
    return { isComplete, waitMs };
  }

  function waitOf(error: unknown): number {
    const failure = failureOf(error, clock.nowMs());
    return failure.kind === 'later' ? failure.waitMs : 0;
  }

  return {
    async all() {
      try {
        return await reconcileAll();
      } catch (error) {
        logger.warn({ err: error }, 'GitHub could not be asked for the installations of the App');
        return { isComplete: false, waitMs: waitOf(error) };
      }
    },

    async installation(installationId) {
      try {
        const { rest } = await app.asApp();
        const { data } = await rest.apps.getInstallation({ installation_id: installationId });
        return await reconcileOne(installationJson.parse(data), null);
      } catch (error) {
        if (statusOf(error) !== 404) throw githubUnavailable('which repositories the App may see', error);
        await transactions.write((tx) => store.forgetInstallation(tx, installationId));
        return 'the installation is gone';
      }
    },
  };
}
