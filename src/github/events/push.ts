import { z } from 'zod';
import type { MergeGroup } from '../../runs/merge-groups.ts';
import type { Commit } from '../../stacks/repository.ts';
import type { Push } from '../../stacks/trigger.ts';
import { installationReference, pushedCommitJson, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { baseOfQueueBranch, mergeQueueLogin } from '../merge-queue-branch.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';

const paths = z.array(z.string()).default([]);
const payload = z.object({
  ref: z.string(),
  before: z.string(),
  after: z.string(),
  created: z.boolean(),
  deleted: z.boolean(),
  forced: z.boolean(),
  commits: z.array(z.object({ added: paths, removed: paths, modified: paths })),
  head_commit: pushedCommitJson.nullable(),
  pusher: z.object({ name: z.string(), email: z.string().nullish() }),
  sender: z.object({ login: z.string(), type: z.string().optional() }).nullish(),
  repository: repositoryJson,
  installation: installationReference,
});
type PushJson = z.output<typeof payload>;

const branchPrefix = 'refs/heads/';

/**
 * Makes a branch push known to the product; which stacks it starts is decided elsewhere (stacks/trigger.ts). The
 * repository file comes first, so that the push that adds a stack starts it too.
 */
export function createPushHandler(parts: {
  repositories: Pick<KnownRepositories, 'remember'>;
  files: Pick<RepositoryFiles, 'beforePush'>;
  onPush: (push: Push, deliveryId: string) => Promise<readonly string[]>;
  onMergeGroup: (group: MergeGroup, deliveryId: string) => Promise<readonly string[]>;
}): EventHandler {
  /** GitHub may tell of a merge group by its push alone: the event of its own is subscribed to separately. */
  function started(push: Push, deliveryId: string): Promise<readonly string[]> {
    const base = push.pusherLogin === mergeQueueLogin ? baseOfQueueBranch(push.branch) : null;
    if (base === null) return parts.onPush(push, deliveryId);
    const { repositoryId, branch, head, pusherLogin: login, pusher: email } = push;
    // What the group is put on is not told: since it left the base, it may have the groups in front of it, too.
    const group = { repositoryId, branch, head: head.hash, base, onto: base, by: { login, email } };
    return parts.onMergeGroup(group, deliveryId);
  }

  return async (event) => {
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const json = parsed.data;
    if (!(await parts.repositories.remember(json.repository, json.installation.id))) {
      return ignored(notSeen(json.repository));
    }
    if (!json.ref.startsWith(branchPrefix)) return ignored(`${json.ref} is not a branch`);
    if (json.deleted) return ignored(`${json.ref} was deleted`);
    if (!json.head_commit) return ignored('the push has no head commit');
    const push = toPush(json, json.head_commit);
    const file = await parts.files.beforePush(push);
    const { newStacks = [], headNow } = file ?? {};
    const first = newStacks.length > 0 ? { newStacks, ...(headNow ? { headNow } : {}) } : {};
    const notes = await started({ ...push, ...first }, event.deliveryId);
    return done([...(file ? [file.note] : []), ...notes].join('; '));
  };
}

function toPush(json: PushJson, head: Commit): Push {
  // The author of a commit can be forged; the sender is who authenticated.
  const pusherLogin = json.sender?.login ?? json.pusher.name;
  return {
    repositoryId: json.repository.id,
    branch: json.ref.slice(branchPrefix.length),
    head,
    before: /^0+$/.test(json.before) ? null : json.before,
    isForced: json.forced,
    pusher: json.pusher.email || `${pusherLogin}@users.noreply.github.com`,
    pusherLogin,
    // Where the type is not told the login tells it: no person can have such a one.
    pusherIsBot: json.sender?.type === 'Bot' || pusherLogin.endsWith('[bot]'),
    changedPaths: changedPaths(json),
  };
}

/** GitHub's caps: a list this long may have been cut. */
const mostCommits = 2048;
const mostFiles = 3000;

/** Null when the payload cannot tell: then a push that affects a stack would be missed. */
export function changedPaths(
  push: Pick<PushJson, 'before' | 'after' | 'created' | 'forced' | 'commits'>,
): readonly string[] | null {
  const { commits } = push;
  if (push.forced || push.created || commits.length >= mostCommits) return null;
  // Nothing new, and yet the branch moved: to a commit that another branch had already.
  if (commits.length === 0 && push.after !== push.before) return null;
  const files = commits.map(({ added, removed, modified }) => [...added, ...removed, ...modified]);
  if (files.some((ofCommit) => ofCommit.length >= mostFiles)) return null;
  return [...new Set(files.flat())];
}
