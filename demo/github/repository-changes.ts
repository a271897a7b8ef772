/** What happens to repositories and accounts over the years, with the events that tell it, or the lack of them. */
import { defaultActor } from './accounts.ts';
import { repositoryEvent } from './events.ts';
import {
  type Account,
  type GithubState,
  installationOf,
  installationOfAccount,
  type Permissions,
  type Repository,
  requireAccount,
} from './state.ts';
import { simpleUser } from './views/account.ts';
import { installationReference, installationView } from './views/installation.ts';
import type { SentDelivery, Webhooks } from './webhooks.ts';

/** Read-only from then on, for the App too. */
export function archiveRepository(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  isArchived: boolean,
): Promise<SentDelivery> {
  repository.archived = isArchived;
  return tellRepository(state, webhooks, repository, { action: isArchived ? 'archived' : 'unarchived' });
}

export function setPrivate(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  isPrivate: boolean,
): Promise<SentDelivery> {
  repository.private = isPrivate;
  return tellRepository(state, webhooks, repository, { action: isPrivate ? 'privatized' : 'publicized' });
}

/**
 * The old address goes on working. Only the new owner's installation hears of it, and only where the App is installed
 * there: who had it before is told nothing.
 */
export function transferRepository(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  login: string,
): Promise<SentDelivery> {
  const from = repository.owner;
  installationOf(state, repository)?.repositoryIds.delete(repository.id);
  moveTo(repository, requireAccount(state, login));
  installationOfAccount(state, repository.owner)?.repositoryIds.add(repository.id);
  const owner =
    from.type === 'User' ? { user: simpleUser(state, from) } : { organization: simpleUser(state, from) };
  return tellRepository(state, webhooks, repository, {
    action: 'transferred',
    changes: { owner: { from: owner } },
  });
}

/** Its repositories are called differently too, and no event of theirs says so. */
export async function renameAccount(
  state: GithubState,
  webhooks: Webhooks,
  login: string,
  newLogin: string,
): Promise<void> {
  const account = requireAccount(state, login);
  state.accounts.delete(account.login.toLowerCase());
  const from = account.login;
  account.login = newLogin;
  state.accounts.set(newLogin.toLowerCase(), account);
  for (const repository of state.repositories.values()) {
    if (repository.owner.id === account.id) moveTo(repository, account);
  }
  const installation = installationOfAccount(state, account);
  if (!installation || !webhooks.target) return;
  // Comes without being asked for.
  const payload = {
    action: 'renamed',
    account: { ...simpleUser(state, account), archived_at: null },
    changes: { login: { from } },
    installation: installationReference(installation),
    target_type: account.type,
    sender: simpleUser(state, defaultActor(state)),
  };
  await webhooks.send({ event: 'installation_target', payload, installationId: installation.id });
}

/** Somebody accepted what the App asks for by now. */
export async function acceptPermissions(
  state: GithubState,
  webhooks: Webhooks,
  login: string,
  permissions: Permissions,
): Promise<void> {
  const installation = installationOfAccount(state, requireAccount(state, login));
  if (!installation) throw new Error(`the App is not installed on ${login}`);
  installation.permissions = { ...permissions };
  if (!webhooks.target) return;
  const payload = {
    action: 'new_permissions_accepted',
    installation: installationView(state, installation),
    repositories: [],
    requester: null,
    sender: simpleUser(state, defaultActor(state)),
  };
  await webhooks.send({ event: 'installation', payload, installationId: installation.id });
}

function moveTo(repository: Repository, owner: Account): void {
  repository.formerNames.push(repository.fullName);
  repository.owner = owner;
  repository.fullName = `${owner.login}/${repository.name}`;
}

function tellRepository(
  state: GithubState,
  webhooks: Webhooks,
  repository: Repository,
  payload: Record<string, unknown>,
): Promise<SentDelivery> {
  return webhooks.sendIfAny(repositoryEvent(state, 'repository', repository, defaultActor(state), payload));
}
