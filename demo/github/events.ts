/** The parts that every event about a repository shares, and whether the App gets the event at all. */
import { type Account, type GithubState, installationOf, type Repository } from './state.ts';
import { organizationPart, simpleUser } from './views/account.ts';
import { installationReference } from './views/installation.ts';
import { repositoryView } from './views/repository.ts';
import type { OutgoingEvent } from './webhooks.ts';

/** Null when the App is not installed there or did not subscribe. */
export function repositoryEvent(
  state: GithubState,
  event: string,
  repository: Repository,
  sender: Account,
  payload: Record<string, unknown>,
): OutgoingEvent | null {
  const installation = installationOf(state, repository);
  if (!installation?.events.includes(event)) return null;
  return {
    event,
    installationId: installation.id,
    repositoryId: repository.id,
    payload: {
      ...payload,
      repository: payload['repository'] ?? repositoryView(state, repository),
      ...organizationPart(state, repository.owner),
      sender: simpleUser(state, sender),
      installation: installationReference(installation),
    },
  };
}
