import { z } from 'zod';
import type { Repository } from '../../stacks/repository.ts';
import type { GithubApp } from '../github-app.ts';
import { statusOf } from '../github-error.ts';
import { repositoryJson } from '../github-json.ts';
import { splitFullName } from '../repositories.ts';

const refJson = z.object({ object: z.object({ sha: z.string() }) });

/** Where branches are, asked as cheaply as GitHub allows: "still the same" counts against no limit. */
export interface HeadReader {
  /** Hash of the branch's head; null when GitHub finds none. Rejects with what Octokit throws. */
  head(repository: Repository, branch: string, signal: AbortSignal): Promise<string | null>;
  /** Whether the name still is that of the repository, and the App sees it. Rejects as above. */
  isStillThere(repository: Repository, signal: AbortSignal): Promise<boolean>;
}

interface Answer {
  readonly etag: string;
  readonly hash: string;
}

export function createHeadReader(app: Pick<GithubApp, 'asInstallation'>): HeadReader {
  /** The last answer about each branch, by repository and branch. As many as there are branches that stacks follow. */
  const answers = new Map<string, Answer>();

  return {
    async head({ id, fullName, installationId }, branch, signal) {
      const name = splitFullName(fullName);
      if (!name) return null;
      const key = `${id} ${branch}`;
      const last = answers.get(key);
      const { rest } = await app.asInstallation(installationId);
      try {
        const answer = await rest.git.getRef({
          ...name,
          ref: `heads/${branch}`,
          headers: last ? { 'if-none-match': last.etag } : {},
          request: { signal },
        });
        const hash = refJson.parse(answer.data).object.sha;
        const { etag } = answer.headers;
        if (etag) answers.set(key, { etag, hash });
        return hash;
      } catch (error) {
        const status = statusOf(error);
        if (status === 304 && last) return last.hash;
        answers.delete(key);
        // 409: the repository is empty.
        if (status === 404 || status === 409) return null;
        throw error;
      }
    },

    async isStillThere({ id, fullName, installationId }, signal) {
      const name = splitFullName(fullName);
      if (!name) return false;
      try {
        const { rest } = await app.asInstallation(installationId);
        const { data } = await rest.repos.get({ ...name, request: { signal } });
        return repositoryJson.parse(data).id === id;
      } catch (error) {
        if (statusOf(error) === 404) return false;
        throw error;
      }
    },
  };
}
