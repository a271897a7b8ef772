import type { Tx } from '../tx.ts';
import type { Account, Repository } from './repository.ts';

/** Accounts and repositories we were told about by GitHub, keyed by GitHub's numeric ids. */
export interface RepositoryStore {
  find(id: number): Promise<Repository | null>;
  findAccount(id: number): Promise<Account | null>;
  /** In the order of their ids, those without an installation included. `login` null = all; `after`: id of the last one seen. */
  listAccounts(options: {
    readonly login: string | null;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly Account[]>;
  /**
   * Those that the App works on: neither removed nor of a suspended account, in the order of their ids. `account`
   * null = all accounts. `after` is the id of the last one seen.
   */
  list(options: {
    readonly account: string | null;
    readonly after: number | null;
    readonly limit: number;
  }): Promise<readonly InstalledRepository[]>;
  /** Inserts or refreshes; a repository that had been removed is back. */
  saveAccount(tx: Tx, account: Account): Promise<void>;
  saveRepository(tx: Tx, repository: Repository): Promise<void>;
  /** The App lost access: kept with its stacks, no longer run. */
  markRemoved(tx: Tx, repositoryIds: readonly number[]): Promise<void>;
  /** The App was uninstalled from the account: all of its repositories are marked removed. */
  forgetInstallation(tx: Tx, installationId: number): Promise<void>;
}

export interface InstalledRepository {
  /** Login of the owner. */
  readonly account: string;
  readonly repository: Repository;
}

/** Asks GitHub, live. */
export interface RepositoryDirectory {
  /** Null when it does not exist or the App is not installed on it. */
  lookUp(fullName: string): Promise<{ account: Account; repository: Repository } | null>;
}
