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
/** Of these, only push policies hear. */
const forPolicies: ReadonlySet<string> = new Set(['labeled', 'unlabeled', 'converted_to_draft']);

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
  /** Whether push policies judge a stack of the repository. */
  isJudged: (repositoryId: number) => Promise<boolean>;
}): EventHandler {
  const { repositories, pullRequests, isJudged } = parts;

  async function changed(json: PullRequestJson, live: LivePullRequest | null, deliveryId: string) {
    const { number, repository } = json;
    const told = json.pull_request.head.sha;
    if (!live) return ignored(`there is no pull request #${number} any more`);
    if (live.state !== 'open') return ignored(`#${number} is closed`);
    if (live.headHash !== told) {
      return ignored(`${told.slice(0, 7)} is not the head of #${number} any more`);
    }
    // Stacks of a repository file that was not read yet must not be missed.
    const { branch } = live;
    const file = await parts.files.beforePush({ repositoryId: repository.id, branch, changedPaths: [] });
    const notes = await parts.onChange(changeOf(json, live), deliveryId);
    return done([...(file ? [file.note] : []), ...notes].join('; '));
  }

  async function closed(json: PullRequestJson, live: LivePullRequest | null, deliveryId: string) {
    const { number, repository, sender } = json;
    if (live?.state === 'open') return ignored(`#${number} is open again`);
    const notes = await parts.onClose({ repositoryId: repository.id, number, by: sender.login });
    if (!live || !(await isJudged(repository.id))) return done(notes.join('; '));
    return done([...notes, ...(await parts.onChange(changeOf(json, live), deliveryId))].join('; '));
  }

  function changeOf(json: PullRequestJson, live: LivePullRequest): PullRequestChange {
    const { action, repository } = json;
    const { branch, headHash, isDraft, pullRequest, state, labels, headOwner, isMergeable } = live;
    const sender = { login: json.sender.login, email: senderEmail(json.sender) };
    const by = { login: sender.login, isBot: json.sender.type === 'Bot' };
    const word = action === 'closed' && state === 'merged' ? 'merged' : action;
    return {
      ...{ repositoryId: repository.id, pullRequest, branch, headHash, isDraft, sender },
      details: { action: word, state, labels, headOwner, isMergeable },
      ...(mayBeNew(json) ? {} : { onlyForPolicies: true }),
      read: () => readContent(pullRequests, live, by),
    };
  }

  return async (event) => {
    // By itself: most of these events are of labels, reviewers and the like.
    const about = actionPart.safeParse(event.payload);
    if (!about.success) return notUnderstood(about.error);
    const { action } = about.data;
    const isForAll = changing.has(action) || action === 'edited' || action === 'closed';
    if (!isForAll && !forPolicies.has(action)) return ignored(nothingIsDone(action));
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const json = parsed.data;
    const { number, repository } = json;
    // Without a question to GitHub: labels are told of often.
    if (action !== 'closed' && !mayBeNew(json) && !(await isJudged(repository.id))) {
      return ignored(action === 'edited' ? 'its base is the same' : nothingIsDone(action));
    }
    if (!(await repositories.remember(json.repository, json.installation.id))) {
      return ignored(notSeen(json.repository));
    }
    const live = await pullRequests.find(repository.id, number);
    const handle = action === 'closed' ? closed : changed;
    return handle(json, live, event.deliveryId);
  };
}

const nothingIsDone = (action: string): string => `nothing is done for the action ${action}`;

const mayBeNew = ({ action, changes }: PullRequestJson): boolean =>
  changing.has(action) || (action === 'edited' && changes?.base !== undefined);
