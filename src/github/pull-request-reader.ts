import { z } from 'zod';
import type { Source } from '../runs/source.ts';
import type { PullRequest } from '../stacks/pull-request.ts';
import type { Commit, Repository } from '../stacks/repository.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import { pathsOf } from './changed-paths.ts';
import type { GithubApp } from './github-app.ts';
import { githubUnavailable, statusOf } from './github-error.ts';
import { restCommitJson } from './github-json.ts';
import { splitFullName } from './repositories.ts';

/** Pull requests as they are now: what an event says of them may be days old. All of it throws `github-unavailable`. */
export interface PullRequestReader {
  /** Null when GitHub knows none, or the repository is not seen. */
  find(repositoryId: number, number: number): Promise<LivePullRequest | null>;
  /** From the merge base to the head, old names included. Null when neither GitHub nor git can tell. */
  changedPaths(live: LivePullRequest): Promise<readonly string[] | null>;
  headCommit(live: LivePullRequest): Promise<{ readonly commit: Commit; readonly author: Author | null }>;
}

export interface LivePullRequest {
  readonly repository: Repository;
  readonly pullRequest: PullRequest;
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  readonly headHash: string;
  /** What its merge put on the base: of a merge, a squash, or the last one of a rebase. Null unless it is merged. */
  readonly mergeCommitHash: string | null;
  /** A branch of the repository, or `owner:branch` of a fork. */
  readonly branch: string;
  /** Null when the account is gone. */
  readonly author: Author | null;
  readonly changedFiles: number;
  readonly labels: readonly string[];
  /** Login of the account that the head branch belongs to; "ghost" when it is gone. */
  readonly headOwner: string;
  /** Neither a conflict nor a rule of the base stands against its merge; null while GitHub works it out. */
  readonly isMergeable: boolean | null;
}

export interface Author {
  readonly login: string;
  readonly isBot: boolean;
}

const account = z
  .object({ login: z.string().min(1), type: z.string() })
  .transform(({ login, type }): Author => ({ login, isBot: type === 'Bot' }));

const pullRequestJson = z.object({
  number: z.number().int(),
  state: z.string(),
  title: z.string(),
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  // Of one that is open: of a merge that GitHub only tried.
  merge_commit_sha: z.string().nullish(),
  user: account.nullish(),
  base: z.object({ ref: z.string().min(1), repo: z.object({ id: z.number().int() }) }),
  head: z.object({
    ref: z.string().min(1),
    sha: z.string().min(1),
    // Both are null once the fork is gone.
    user: z.object({ login: z.string() }).nullish(),
    repo: z.object({ id: z.number().int() }).nullish(),
  }),
  changed_files: z.number().int(),
  labels: z.array(z.object({ name: z.string() })).default([]),
  mergeable: z.boolean().nullish(),
  mergeable_state: z.string().nullish(),
});

/** GitHub's own word for accounts that are gone. */
const ghost = 'ghost';

/** Without its repository, of which the answer says too little. */
export function parsePullRequest(input: unknown): Omit<LivePullRequest, 'repository'> {
  const json = pullRequestJson.parse(input);
  const { number, title, draft, user, base, head, changed_files } = json;
  const state = json.merged ? 'merged' : json.state === 'open' ? 'open' : 'closed';
  const isFork = head.repo?.id !== base.repo.id;
  return {
    pullRequest: { number, base: base.ref, title, author: user?.login ?? ghost, isFork },
    state,
    isDraft: draft ?? false,
    headHash: head.sha,
    mergeCommitHash: (state === 'merged' && json.merge_commit_sha) || null,
    // No branch has a colon in its name: one of a fork is never taken for one of ours.
    branch: isFork ? `${head.user?.login ?? ghost}:${head.ref}` : head.ref,
    author: user ?? null,
    changedFiles: changed_files,
    labels: json.labels.map(({ name }) => name),
    headOwner: head.user?.login ?? ghost,
    isMergeable: isMergeable(json),
  };
}

/** GitHub's words for what can be merged, checks that are not required aside. */
const mergeableStates: ReadonlySet<string> = new Set(['clean', 'unstable', 'has_hooks']);

function isMergeable({ mergeable, mergeable_state }: z.output<typeof pullRequestJson>): boolean | null {
  if (mergeable === null || mergeable === undefined) return null;
  return mergeable && mergeableStates.has(mergeable_state ?? '');
}

/** GitHub lists so many files of a pull request, and no more. */
const mostFiles = 3000;
/** `author` is null or `{}` when GitHub knows nobody with the address. */
const authorJson = z.object({ author: account.nullish().catch(null) });

export function createPullRequestReader(parts: {
  app: Pick<GithubApp, 'asInstallation'>;
  source: Pick<Source, 'changedPaths'>;
  repositories: Pick<RepositoryStore, 'find'>;
}): PullRequestReader {
  const { app, source, repositories } = parts;

  async function clientFor({ fullName, installationId }: Repository) {
    const name = splitFullName(fullName);
    if (!name) throw new Error(`${fullName} is not the name of a repository`);
    return { ...(await app.asInstallation(installationId)), name };
  }

  async function asked<T>({ repository, pullRequest }: Asked, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      throw githubUnavailable(`about pull request #${pullRequest.number} of ${repository.fullName}`, error);
    }
  }

  const listFiles = (live: LivePullRequest) =>
    asked(live, async () => {
      const { rest, paginate, name } = await clientFor(live.repository);
      const pull_number = live.pullRequest.number;
      return paginate(rest.pulls.listFiles, { ...name, pull_number, per_page: 100 });
    });

  return {
    async find(repositoryId, number) {
      const repository = await repositories.find(repositoryId);
      if (!repository) return null;
      return asked({ repository, pullRequest: { number } }, async () => {
        const { rest, name } = await clientFor(repository);
        try {
          const { data } = await rest.pulls.get({ ...name, pull_number: number });
          return { repository, ...parsePullRequest(data) };
        } catch (error) {
          if (statusOf(error) === 404) return null;
          throw error;
        }
      });
    },

    async changedPaths(live) {
      const { repository, pullRequest, headHash, changedFiles, state } = live;
      const files = changedFiles < mostFiles ? await listFiles(live) : null;
      // It may have grown since it was counted.
      if (files && files.length < mostFiles) return pathsOf(files);
      // To git, what was merged is no difference any more.
      if (state === 'merged') return null;
      return source.changedPaths(repository, pullRequest.base, headHash);
    },

    headCommit: (live) =>
      asked(live, async () => {
        const { rest, name } = await clientFor(live.repository);
        // GitHub keeps the heads of forks with the base repository, too. Its files are of no interest.
        const { data } = await rest.repos.getCommit({ ...name, ref: live.headHash, per_page: 1 });
        return { commit: restCommitJson.parse(data), author: authorJson.parse(data).author ?? null };
      }),
  };
}

interface Asked {
  readonly repository: Repository;
  readonly pullRequest: Pick<PullRequest, 'number'>;
}
