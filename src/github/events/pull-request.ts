import { z } from 'zod';
import type { PullRequestClosing } from '../../runs/pull-requests.ts';
import type { PullRequestChange } from '../../stacks/pull-request.ts';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { readContent } from '../pull-request-content.ts';
import type { LivePullRequest, PullRequestReader } from '../pull-request-reader.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';
import { senderEmail, senderJson } from './sender.ts';

const actionPart = z.object({ action: z.string() });
const payload = z.object({
  action: z.string(),
  number: z.number().int().positive(),
  pull_request: z.object({ head: z.object({ sha: z.string() }) }),
  /** What an edit changed. */
  changes: z.object({ base: z.unknown().optional() }).nullish().catch(null),
  sender: senderJson,
  repository: repositoryJson,
  installation: installationReference,
});
type PullRequestJson = z.output<typeof payload>;

/** After these, what it previews may be new to its stacks. */
const changing: ReadonlySet<string> = new Set(['opened', 'reopened', 'synchronize', 'ready_for_review']);

/**
 * Makes a pull request known to the product; which stacks it previews is decided elsewhere (stacks/pull-request.ts).
 * The payload says only what to look at: how the pull request is now is asked, as events come late and out of order.
 */
export function createPullRequestHandler(parts: {
  repositories: Pick<KnownRepositories, 'remember'>;
  files: Pick<RepositoryFiles, 'beforePush'>;
  pullRequests: PullRequestReader;
  onChange: (change: PullRequestChange, deliveryId: string) => Promise<readonly string[]>;
  onClose: (closing: PullRequestClosing) => Promise<readonly string[]>;
}): EventHandler {
  const { repositories, pullRequests } = parts;

  async function changed(json: PullRequestJson, live: LivePullRequest | null, deliveryId: string) {
    const { number, repository } = json;
    const told = json.pull_request.head.sha;
    if (!live) return ignored(`there is no pull request #${number} any more`);
    if (live.state !== 'open') return ignored(`#${number} is closed`);
    if (live.headHash !== told) {
      return ignored(`${told.slice(0, 7)} is not the head of #${number} any more`);
    }
    const { branch, headHash, isDraft, pullRequest } = live;
    // Stacks of a repository file that was not read yet must not be missed.
    const file = await parts.files.beforePush({ repositoryId: repository.id, branch, changedPaths: [] });
    const sender = { login: json.sender.login, email: senderEmail(json.sender) };
    const read = () =>
      readContent(pullRequests, live, { login: sender.login, isBot: json.sender.type === 'Bot' });
    const change = { repositoryId: repository.id, pullRequest, branch, headHash, isDraft, sender, read };
    const notes = await parts.onChange(change, deliveryId);
    return done([...(file ? [file.note] : []), ...notes].join('; '));
  }

  return async (event) => {
    // By itself: most of these events are of labels, reviewers and the like.
    const about = actionPart.safeParse(event.payload);
    if (!about.success) return notUnderstood(about.error);
    const { action } = about.data;
    if (!changing.has(action) && action !== 'edited' && action !== 'closed') {
      return ignored(`nothing is done for the action ${action}`);
    }
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const json = parsed.data;
    if (action === 'edited' && json.changes?.base === undefined) return ignored('its base is the same');
    if (!(await repositories.remember(json.repository, json.installation.id))) {
      return ignored(notSeen(json.repository));
    }
    const { number, repository, sender } = json;
    const live = await pullRequests.find(repository.id, number);
    if (action !== 'closed') return changed(json, live, event.deliveryId);
    if (live?.state === 'open') return ignored(`#${number} is open again`);
    const notes = await parts.onClose({ repositoryId: repository.id, number, by: sender.login });
    return done(notes.join('; '));
  };
}
