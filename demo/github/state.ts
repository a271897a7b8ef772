/**
 * What the stand-in GitHub knows: plain data and look-ups by id or name. Commits, branches and files are not
 * here but in real bare Git repositories under `dir`; answers and payloads are derived from those.
 */
import { join } from 'node:path';

export type Level = 'read' | 'write' | 'admin';
export type Permissions = Record<string, Level>;
export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read';

export interface Account {
  id: number;
  login: string;
  type: 'User' | 'Organization' | 'Bot';
  name: string | null;
  /** The address on this person's commits; it maps a commit to its `author`. */
  email: string | null;
  /** Whether GitHub shows the address; when not, payloads carry the noreply address. */
  emailPublic: boolean;
}

export interface App {
  id: number;
  slug: string;
  name: string;
  clientId: string;
  clientSecret: string;
  publicKeyPem: string;
  permissions: Permissions;
  events: string[];
  bot: Account;
}

export interface Installation {
  id: number;
  account: Account;
  permissions: Permissions;
  events: string[];
  repositoryIds: Set<number>;
  createdAtMs: number;
  suspendedAtMs: number | null;
}

export interface Repository {
  id: number;
  owner: Account;
  name: string;
  fullName: string;
  formerNames: string[];
  private: boolean;
  archived: boolean;
  /** What it is a fork of. */
  forkOf: Repository | null;
  defaultBranch: string;
  /** The bare repository. */
  gitDir: string;
  createdAtMs: number;
  pushedAtMs: number;
  roles: Map<string, Role>;
  /** Full ref name to the head that the last push event told; what Git says now may be newer. */
  announced: Map<string, string>;
  lastIssueNumber: number;
}

export interface Team {
  id: number;
  slug: string;
  organization: Account;
  parent: Team | null;
  memberIds: Set<number>;
}

export interface InstallationToken {
  token: string;
  installation: Installation;
  permissions: Permissions;
  /** Null: every repository of the installation, also those added later. */
  repositoryIds: Set<number> | null;
  expiresAtMs: number;
}

export interface GithubState {
  /** Root address; web pages, login and Git live here, the API here and under /api/v3. */
  url: string;
  dir: string;
  nowMs: () => number;
  tokenForm: 'long' | 'short';
  app: App;
  accounts: Map<string, Account>;
  installations: Map<number, Installation>;
  repositories: Map<number, Repository>;
  tokens: Map<string, InstallationToken>;
  userTokens: Map<string, Account>;
  teams: Team[];
  nextId: () => number;
}

export function createState(options: Pick<GithubState, 'dir' | 'nowMs' | 'tokenForm' | 'app'>): GithubState {
  // One counter for everything: an installation id taken for a repository id must not work by accident.
  let lastId = 41_000_000;
  return {
    ...options,
    url: '',
    accounts: new Map(),
    installations: new Map(),
    repositories: new Map(),
    tokens: new Map(),
    userTokens: new Map(),
    teams: [],
    nextId: () => {
      lastId += 7;
      return lastId;
    },
  };
}

export const findAccount = (state: GithubState, login: string): Account | undefined =>
  state.accounts.get(login.toLowerCase());

export function requireAccount(state: GithubState, login: string): Account {
  const account = findAccount(state, login);
  if (!account) throw new Error(`the stand-in GitHub has no account "${login}": add it first`);
  return account;
}

export function findRepository(state: GithubState, owner: string, name: string): Repository | undefined {
  const wanted = `${owner}/${name}`.toLowerCase();
  const all = [...state.repositories.values()];
  const now = all.find((repository) => repository.fullName.toLowerCase() === wanted);
  return now ?? all.find(({ formerNames }) => formerNames.some((former) => former.toLowerCase() === wanted));
}

/** The installation that sees the repository, so the one that its events are about. */
export function installationOf(state: GithubState, repository: Repository): Installation | undefined {
  return [...state.installations.values()].find((each) => each.repositoryIds.has(repository.id));
}

export function installationOfAccount(state: GithubState, account: Account): Installation | undefined {
  return [...state.installations.values()].find((each) => each.account.id === account.id);
}

/** Directories are named by id, as renames must not move them. */
export const gitDirOf = (state: GithubState, id: number): string => join(state.dir, `${id}.git`);

export const noreplyEmail = (account: Account): string =>
  `${account.id}+${account.login}@users.noreply.github.com`;

/** The known person or bot behind a commit's address, by either of its addresses. */
export function accountByEmail(state: GithubState, email: string): Account | undefined {
  const wanted = email.toLowerCase();
  const isTheirs = (account: Account): boolean =>
    account.email?.toLowerCase() === wanted || noreplyEmail(account).toLowerCase() === wanted;
  return [...state.accounts.values()].find((account) => account.type !== 'Organization' && isTheirs(account));
}
