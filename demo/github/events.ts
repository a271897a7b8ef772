/** The parts that every event about a repository shares, and whether the App gets the event at all. */
import { type Account, type GithubState, installationOf, type Repository } from './state.ts';
import { allows } from './tokens.ts';
import { organizationPart, simpleUser } from './views/account.ts';
import { installationReference } from './views/installation.ts';
import { repositoryView } from './views/repository.ts';
import type { OutgoingEvent } from './webhooks.ts';

/** Without read access to it, GitHub lets no App subscribe. */
const neededFor: Readonly<Record<string, string>> = {
  push: 'contents',
  pull_request: 'pull_requests',
  issue_comment: 'issues',
  check_run: 'checks',
  check_suite: 'checks',
  merge_group: 'merge_queues',
  repository: 'metadata',
};

/** Null when the App is not installed there, is suspended, did not subscribe, or lacks the permission. */
export function repositoryEvent(
  state: GithubState,
  event: string,
  repository: Repository,
  sender: Account,
  payload: Record<string, unknown>,
): OutgoingEvent | null {
  const installation = installationOf(state, repository);
  if (!installation?.events.includes(event) || installation.suspendedAtMs !== null) return null;
  const needed = neededFor[event];
  if (needed === undefined) throw new Error(`the stand-in GitHub does not know who gets the event ${event}`);
  if (!allows(installation.permissions, needed, 'read')) return null;
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
