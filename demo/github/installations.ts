/** Installing the App on an account, and taking it away, with the events that tell it. */
import { defaultActor } from './accounts.ts';
import {
  type GithubState,
  type Installation,
  installationOfAccount,
  type Permissions,
  type Repository,
  requireAccount,
} from './state.ts';
import { simpleUser } from './views/account.ts';
import { installationView } from './views/installation.ts';
import { repositorySummary } from './views/repository.ts';
import type { Webhooks } from './webhooks.ts';

export interface InstallOptions {
  /** Default: what the App asks for. */
  permissions?: Permissions;
  events?: string[];
  /** Default: every repository that the account has. */
  repositories?: readonly Repository[];
}

export async function installApp(
  state: GithubState,
  webhooks: Webhooks,
  login: string,
  options: InstallOptions = {},
): Promise<Installation> {
  const account = requireAccount(state, login);
  const own = [...state.repositories.values()].filter((repository) => repository.owner.id === account.id);
  const repositories = options.repositories ?? own;
  const installation: Installation = {
    id: state.nextId(),
    account,
    permissions: { ...(options.permissions ?? state.app.permissions) },
    events: options.events ?? [...state.app.events],
    repositoryIds: new Set(repositories.map((repository) => repository.id)),
    createdAtMs: state.nowMs(),
    suspendedAtMs: null,
  };
  state.installations.set(installation.id, installation);
  await tell(state, webhooks, installation, 'created', repositories);
  return installation;
}

/** Its tokens die with it. */
export async function uninstallApp(state: GithubState, webhooks: Webhooks, login: string): Promise<void> {
  const installation = installationOfAccount(state, requireAccount(state, login));
  if (!installation) throw new Error(`the App is not installed on ${login}`);
  const repositories = [...installation.repositoryIds].flatMap((id) => state.repositories.get(id) ?? []);
  state.installations.delete(installation.id);
  await tell(state, webhooks, installation, 'deleted', repositories);
}

/** Suspended, its tokens are refused and no new ones are made. */
export async function suspendApp(
  state: GithubState,
  webhooks: Webhooks,
  login: string,
  isSuspended: boolean,
): Promise<void> {
  const installation = installationOfAccount(state, requireAccount(state, login));
  if (!installation) throw new Error(`the App is not installed on ${login}`);
  installation.suspendedAtMs = isSuspended ? state.nowMs() : null;
  await tell(state, webhooks, installation, isSuspended ? 'suspend' : 'unsuspend', []);
}

async function tell(
  state: GithubState,
  webhooks: Webhooks,
  installation: Installation,
  action: 'created' | 'deleted' | 'suspend' | 'unsuspend',
  repositories: readonly Repository[],
): Promise<void> {
  if (!webhooks.target) return;
  const payload = {
    action,
    installation: installationView(state, installation),
    repositories: repositories.map(repositorySummary),
    requester: null,
    sender: simpleUser(state, defaultActor(state)),
  };
  await webhooks.send({ event: 'installation', payload, installationId: installation.id });
}

/** Puts a repository into its account's installation, or takes it out, and says so. */
export async function changeInstalledRepository(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  action: 'added' | 'removed',
): Promise<void> {
  const installation = installationOfAccount(state, repository.owner);
  if (!installation) return;
  if (action === 'added') installation.repositoryIds.add(repository.id);
  else installation.repositoryIds.delete(repository.id);
  if (!webhooks.target) return;
  const summary = [repositorySummary(repository)];
  const payload = {
    action,
    installation: installationView(state, installation),
    repository_selection: 'selected',
    repositories_added: action === 'added' ? summary : [],
    repositories_removed: action === 'removed' ? summary : [],
    requester: null,
    sender: simpleUser(state, defaultActor(state)),
  };
  await webhooks.send({ event: 'installation_repositories', payload, installationId: installation.id });
}
