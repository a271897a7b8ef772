import { z } from 'zod';
import type { MergeGroups } from '../../runs/merge-groups.ts';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';
import { senderEmail, senderJson } from './sender.ts';

const branchRef = z
  .string()
  .startsWith('refs/heads/')
  .transform((ref) => ref.slice('refs/heads/'.length));

const payload = z.object({
  action: z.string(),
  reason: z.string().nullish(),
  merge_group: z.object({
    head_sha: z.string().min(1),
    head_ref: branchRef,
    base_sha: z.string().min(1),
    base_ref: branchRef,
  }),
  sender: senderJson.nullish(),
  repository: repositoryJson,
  installation: installationReference,
});

/** For GitHub's own account, which the payload may leave out. */
const nobody = { id: 9919, login: 'github' };

/** A merge queue asks for the checks of what it would merge, or has let go of it. */
export function createMergeGroupHandler(parts: {
  repositories: Pick<KnownRepositories, 'remember'>;
  files: Pick<RepositoryFiles, 'beforePush'>;
  /** Asked late: it needs what is made of this. */
  mergeGroups: () => MergeGroups;
}): EventHandler {
  const { repositories, files, mergeGroups } = parts;
  return async ({ payload: sent, deliveryId }) => {
    const parsed = payload.safeParse(sent);
    if (!parsed.success) return notUnderstood(parsed.error);
    const { action, reason, merge_group: group, repository, installation, sender } = parsed.data;
    if (action !== 'checks_requested' && action !== 'destroyed') {
      return ignored(`nothing is done for the action ${action}`);
    }
    if (!(await repositories.remember(repository, installation.id))) return ignored(notSeen(repository));
    const of = { repositoryId: repository.id, branch: group.head_ref, head: group.head_sha };
    if (action === 'destroyed') {
      return done((await mergeGroups().destroyed({ ...of, reason: reason ?? 'destroyed' })).join('; '));
    }
    // Stacks of a repository file that was not read yet must not be missed.
    const file = await files.beforePush({
      repositoryId: repository.id,
      branch: group.head_ref,
      changedPaths: [],
    });
    const who = sender ?? nobody;
    const by = { login: who.login, email: senderEmail(who) };
    const requested = { ...of, base: group.base_ref, onto: group.base_sha, by };
    const notes = await mergeGroups().requested(requested, deliveryId);
    return done([...(file ? [file.note] : []), ...notes].join('; '));
  };
}
