import type { Logger } from '../logger.ts';
import type { Source } from '../runs/source.ts';
import type { Commit, Repository } from '../stacks/repository.ts';
import { UserError } from '../user-error.ts';
import { createChangedPaths } from './changed-paths.ts';
import { createFetchTokens } from './fetch-token.ts';
import { checkOut, fetchCommit, type GitSettings, initGitDir, isCommitHash } from './git.ts';
import type { GithubApp } from './github-app.ts';
import { githubUnavailable, statusOf } from './github-error.ts';
import { restCommitJson } from './github-json.ts';
import { splitFullName } from './repositories.ts';

/**
 * Commits out of GitHub: which one is meant is asked by REST, the files come by git. The repository is
 * hostile until proven otherwise: nothing in it may run here, and no credential stays behind (git.ts).
 */
export function createGithubSource(parts: {
  app: Pick<GithubApp, 'asApp' | 'asInstallation'>;
  apiUrl: string;
  git: GitSettings;
  /** Where what is needed for a moment lies. */
  scratchDirectory: string;
  logger: Logger;
}): Source {
  const { app, git, logger } = parts;
  const tokens = createFetchTokens({ app, apiUrl: parts.apiUrl, logger });
  const changedPaths = createChangedPaths({ ...parts, tokens });

  async function resolve(repository: Repository, branch: string, sha: string | null): Promise<Commit | null> {
    const name = splitFullName(repository.fullName);
    if (!name || branch === '') return null;
    const { rest } = await app.asInstallation(repository.installationId);
    const { data } = await rest.repos.getBranch({ ...name, branch });
    // GitHub redirects from the old name of a renamed branch.
    if (data.name !== branch) return null;
    const head = restCommitJson.parse(data.commit);
    if (sha === null || sha.toLowerCase() === head.hash) return head;
    // GitHub would take a branch or a tag for a commit too, and finds commits of forks.
    if (!/^[0-9a-f]{7,64}$/i.test(sha)) return null;
    const commit = restCommitJson.parse((await rest.repos.getCommit({ ...name, ref: sha })).data);
    if (!commit.hash.startsWith(sha.toLowerCase())) return null;
    const relation = await compare(repository, head.hash, commit.hash);
    return relation === 'behind' || relation === 'identical' ? commit : null;
  }

  async function compare(repository: Repository, base: string, head: string) {
    const name = splitFullName(repository.fullName);
    if (!name) return null;
    const { rest } = await app.asInstallation(repository.installationId);
    const basehead = `${base}...${head}`;
    const { data } = await rest.repos.compareCommitsWithBasehead({ ...name, basehead, per_page: 1 });
    return data.status;
  }

  /** Null for what GitHub does not find: 404; 409, the repository is empty; 422, no such commit. */
  async function found<T>(repository: Repository, asked: Promise<T>): Promise<T | null> {
    try {
      return await asked;
    } catch (error) {
      if ([404, 409, 422].includes(statusOf(error) ?? 0)) return null;
      throw githubUnavailable(`for commits of ${repository.fullName}`, error);
    }
  }

  return {
    resolve: (repository, branch, sha) => found(repository, resolve(repository, branch, sha)),
    compare: (repository, base, head) => found(repository, compare(repository, base, head)),
    changedPaths: (repository, base, head) => found(repository, changedPaths(repository, base, head)),

    async fetch(repository, sha, target, signal) {
      if (!isCommitHash(sha)) {
        throw new UserError('source-unavailable', `${sha} is not the full hash of a commit.`);
      }
      const [minted, made] = await Promise.allSettled([
        tokens.mint(repository, signal),
        initGitDir(git, target.gitDir, signal),
      ]);
      if (minted.status === 'rejected') throw minted.reason;
      const { token } = minted.value;
      try {
        if (made.status === 'rejected') throw made.reason;
        await fetchCommit(git, target, { ...minted.value, sha }, signal);
      } catch (error) {
        await tokens.revoke(token);
        throw error;
      }
      await Promise.all([tokens.revoke(token), checkOut(git, target, sha, signal)]);
    },
  };
}
