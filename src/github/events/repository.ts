import { z } from 'zod';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';

const payload = z.object({
  action: z.string(),
  changes: z.object({ default_branch: z.unknown().optional() }).nullish().catch(null),
  repository: repositoryJson,
  installation: installationReference,
});

/**
 * A repository was renamed, transferred, archived, made private or public, or has another default branch: all
 * of them are a reason to ask how it is now. Another default branch has another repository file.
 */
export function createRepositoryHandler(parts: {
  repositories: KnownRepositories;
  files: Pick<RepositoryFiles, 'refresh'>;
}): EventHandler {
  return async (event) => {
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const { action, repository, installation, changes } = parsed.data;
    if (action === 'deleted') {
      await parts.repositories.markRemoved([repository.id]);
      return done(`${repository.full_name} was deleted`);
    }
    if (!(await parts.repositories.remember(repository, installation.id))) {
      return ignored(notSeen(repository));
    }
    const note = `${repository.full_name}: ${action}`;
    if (changes?.default_branch === undefined) return done(note);
    return done(`${note}; repository file: ${await parts.files.refresh(repository.id)}`);
  };
}
