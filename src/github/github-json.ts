import { z } from 'zod';
import type { Account, Commit, Repository } from '../stacks/repository.ts';

/**
 * The parts of GitHub's JSON that we use, shared by webhook payloads and REST answers. Everything else in
 * them is ignored, so that GitHub may add what it likes.
 */
const accountJson = z.object({ id: z.number().int(), login: z.string().min(1) });

export const repositoryJson = z.object({
  id: z.number().int(),
  full_name: z.string().min(3),
  private: z.boolean(),
  default_branch: z.string().min(1),
  archived: z.boolean().default(false),
  owner: accountJson,
});
export type RepositoryJson = z.output<typeof repositoryJson>;

export const installationJson = z.object({
  id: z.number().int(),
  // An enterprise has a slug instead of a login; it owns no repositories.
  account: accountJson.nullish().catch(null),
  suspended_at: z.string().nullish(),
});
export type InstallationJson = z.output<typeof installationJson>;

/** In the payload of every event of a repository. */
export const installationReference = z.object({ id: z.number().int() });

export function toRepository(json: RepositoryJson, installationId: number): Repository {
  return {
    id: json.id,
    accountId: json.owner.id,
    installationId,
    fullName: json.full_name,
    defaultBranch: json.default_branch,
    isPrivate: json.private,
    ...(json.archived ? { isArchived: true } : {}),
  };
}

/** Null for an installation on something that owns no repositories. */
export function toAccount({ id, account, suspended_at }: InstallationJson): Account | null {
  if (!account) return null;
  return { id: account.id, login: account.login, installationId: id, suspended: Boolean(suspended_at) };
}

const timestamp = z.string().transform((text, context) => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) context.addIssue({ code: 'custom', message: 'not a time' });
  return Math.floor(ms / 1000);
});

/** In a push payload. The author's `username` is missing when GitHub knows nobody with the address. */
export const pushedCommitJson = z
  .object({
    id: z.string(),
    message: z.string(),
    timestamp,
    url: z.string(),
    author: z.object({ name: z.string().nullish(), username: z.string().nullish() }),
  })
  .transform(
    (json): Commit => ({
      authorLogin: json.author.username ?? '',
      authorName: json.author.name ?? '',
      hash: json.id,
      message: json.message,
      timestamp: json.timestamp,
      url: json.url,
    }),
  );

/** In a REST answer. `author` is null or `{}` when GitHub knows nobody with the address. */
export const restCommitJson = z
  .object({
    sha: z.string(),
    html_url: z.string(),
    author: z.object({ login: z.string().nullish() }).nullish(),
    commit: z.object({
      message: z.string(),
      author: z.object({ name: z.string().nullish() }).nullish(),
      // The time that push payloads show too.
      committer: z.object({ date: timestamp }),
    }),
  })
  .transform(
    (json): Commit => ({
      authorLogin: json.author?.login ?? '',
      authorName: json.commit.author?.name ?? '',
      hash: json.sha,
      message: json.commit.message,
      timestamp: json.commit.committer.date,
      url: json.html_url,
    }),
  );
