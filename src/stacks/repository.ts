/**
 * Accounts and repositories as GitHub knows them. Numeric ids are the identity; logins and names are what
 * they were called when we last heard of them, because both can be renamed and reused.
 */
export interface Account {
  readonly id: number;
  readonly login: string;
  /** The App's installation in the account; null once it was removed. */
  readonly installationId: number | null;
  readonly suspended: boolean;
}

export interface Repository {
  readonly id: number;
  readonly accountId: number;
  readonly installationId: number;
  /** "owner/name" */
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly isPrivate: boolean;
  /** Left out: it is not. */
  readonly isArchived?: true;
}

export function isSameRepository(a: Repository, b: Repository): boolean {
  return (
    a.id === b.id &&
    a.accountId === b.accountId &&
    a.installationId === b.installationId &&
    a.fullName === b.fullName &&
    a.defaultBranch === b.defaultBranch &&
    a.isPrivate === b.isPrivate &&
    a.isArchived === b.isArchived
  );
}

/** A commit as the payload of a webhook shows it (specification §2.2). */
export interface Commit {
  /** "" when GitHub knows no user for the author's e-mail address. */
  readonly authorLogin: string;
  readonly authorName: string;
  readonly hash: string;
  readonly message: string;
  /** Unix seconds, as the event or the API gave it. */
  readonly timestamp: number;
  readonly url: string;
}
