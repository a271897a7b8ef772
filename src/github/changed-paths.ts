import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../logger.ts';
import type { Repository } from '../stacks/repository.ts';
import { UserError } from '../user-error.ts';
import type { FetchTokens } from './fetch-token.ts';
import { diffPaths, fetchTrees, type GitSettings, initGitDir, isCommitHash } from './git.ts';
import type { GithubApp } from './github-app.ts';
import { splitFullName } from './repositories.ts';

/** GitHub lists so many files of a comparison, and does not say whether there are more. */
const mostListed = 300;
/** Somebody waits for a run to start: what takes longer is taken for "everything may have changed". */
const timeLimitMs = 2 * 60_000;

const fileJson = z.object({ filename: z.string(), previous_filename: z.string().optional() });
export type FileJson = z.output<typeof fileJson>;
const comparisonJson = z.object({
  merge_base_commit: z.object({ sha: z.string() }),
  files: z.array(fileJson).default([]),
});

/** A file that was moved changed in both places. */
export function pathsOf(files: readonly FileJson[]): readonly string[] {
  const paths = files.flatMap(({ filename, previous_filename: previous }) =>
    previous === undefined ? [filename] : [filename, previous],
  );
  return [...new Set(paths)];
}

/**
 * What a commit changed since it left a branch: asked by REST, as that is one request, and of git where GitHub's list
 * may have been cut. Git gets the trees of two commits and no file. Null when git cannot tell either.
 */
export function createChangedPaths(parts: {
  app: Pick<GithubApp, 'asInstallation'>;
  tokens: FetchTokens;
  git: GitSettings;
  /** Git directories live here for a moment. */
  scratchDirectory: string;
  logger: Logger;
}) {
  const { app, tokens, git, scratchDirectory, logger } = parts;

  async function byGit(repository: Repository, from: string, to: string): Promise<readonly string[]> {
    if (![from, to].every(isCommitHash)) throw new UserError('source-unavailable', `${to} is no full hash.`);
    const signal = AbortSignal.timeout(timeLimitMs);
    await mkdir(scratchDirectory, { recursive: true, mode: 0o700 });
    const gitDir = await mkdtemp(join(scratchDirectory, 'diff-'));
    try {
      const { token, fullName } = await tokens.mint(repository, signal);
      try {
        await initGitDir(git, gitDir, signal);
        await fetchTrees(git, gitDir, { token, fullName, shas: [from, to] }, signal);
      } finally {
        await tokens.revoke(token);
      }
      return await diffPaths(git, gitDir, { from, to }, signal);
    } finally {
      await rm(gitDir, { recursive: true, force: true });
    }
  }

  return async (repository: Repository, base: string, head: string): Promise<readonly string[] | null> => {
    const name = splitFullName(repository.fullName);
    if (!name) return null;
    const { rest } = await app.asInstallation(repository.installationId);
    const basehead = `${base}...${head}`;
    // The files stand on the first page, however many commits are on it.
    const answer = await rest.repos.compareCommitsWithBasehead({ ...name, basehead, per_page: 1 });
    const { files, merge_base_commit } = comparisonJson.parse(answer.data);
    if (files.length < mostListed) return pathsOf(files);
    try {
      return await byGit(repository, merge_base_commit.sha, head);
    } catch (error) {
      if (!(error instanceof UserError) && !(error instanceof DOMException)) throw error;
      logger.warn({ err: error, repository: repository.fullName }, 'git could not tell what changed');
      return null;
    }
  };
}
