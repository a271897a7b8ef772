import { z } from 'zod';
import type { PersonActor, Role } from '../access/actor.ts';
import type { Permissions, RepositoryRef } from '../access/permissions.ts';
import type { Clock } from '../clock.ts';
import type { GithubApp } from './github-app.ts';
import { githubUnavailable, statusOf } from './github-error.ts';
import { splitFullName } from './repositories.ts';

const permissionJson = z.object({
  /** The old four words: maintain counts as write, triage as read. */
  permission: z.string(),
  /** The true role, or the name of a custom one. */
  role_name: z.string().nullish(),
  user: z
    .object({
      id: z.number().optional(),
      permissions: z.object({ triage: z.boolean().optional() }).nullish(),
    })
    .nullish()
    .catch(null),
});
type PermissionJson = z.output<typeof permissionJson>;

/** The role that a login has, and whose login it is; null: GitHub did not say. */
interface Answer {
  readonly role: Role | null;
  readonly userId: number | null;
}

const nobody: Answer = { role: null, userId: null };

const cacheMs = 10_000;
const maxCached = 10_000;

/** Roles as GitHub has them now. Repository settings, teams and organisation defaults are GitHub's business. */
export function createPermissions(parts: {
  app: Pick<GithubApp, 'asInstallation'>;
  clock: Clock;
}): Permissions {
  const { app, clock } = parts;
  const cache = new Map<string, Answer & { readonly untilMs: number }>();

  async function ask(login: string, repository: RepositoryRef): Promise<Answer> {
    const name = splitFullName(repository.fullName);
    // A bot's login has brackets; GitHub has no permission level for bots.
    if (!name || !/^[A-Za-z0-9_-]+$/.test(login)) return nobody;
    try {
      const octokit = await app.asInstallation(repository.installationId);
      const answer = await octokit.rest.repos.getCollaboratorPermissionLevel({ ...name, username: login });
      const json = permissionJson.parse(answer.data);
      return { role: roleOf(json, repository.isPrivate), userId: json.user?.id ?? null };
    } catch (error) {
      if (statusOf(error) === 404) return nobody;
      throw githubUnavailable(`what ${login} may do in ${repository.fullName}`, error);
    }
  }

  return {
    async roleOf(person, repository, fresh) {
      const { login } = person;
      const key = `${repository.id}:${repository.isPrivate}:${login.toLowerCase()}`;
      const nowMs = clock.nowMs();
      const cached = cache.get(key);
      if (!fresh && cached && nowMs < cached.untilMs) return roleFor(person, cached);
      const answer = await ask(login, repository);
      if (cache.size >= maxCached) cache.clear();
      // Counted from before the question: the answer may be as old as that.
      cache.set(key, { ...answer, untilMs: nowMs + cacheMs });
      return roleFor(person, answer);
    },
  };
}

/** Of whom a login is now. Somebody else's rights are nobody's, and so are those of nobody in particular. */
function roleFor({ userId }: Pick<PersonActor, 'userId'>, answer: Answer): Role | null {
  return userId === undefined || userId === answer.userId ? answer.role : null;
}

/** On a public repository GitHub gives `read` to everybody, so it says nothing about a person there. */
export function roleOf(json: PermissionJson, isPrivate: boolean): Role | null {
  switch (json.role_name) {
    case 'admin':
      return 'admin';
    case 'maintain':
    case 'write':
      return 'writer';
    case 'triage':
      return 'reader';
    case 'read':
      return isPrivate ? 'reader' : null;
    case 'none':
      return null;
    default:
      return customRole(json, isPrivate);
  }
}

/** A custom role has any name; what it was built on shows in the old words and flags. */
function customRole({ permission, user }: PermissionJson, isPrivate: boolean): Role | null {
  if (permission === 'admin') return 'admin';
  if (permission === 'write') return 'writer';
  if (permission !== 'read') return null;
  return isPrivate || user?.permissions?.triage === true ? 'reader' : null;
}
