/** What a caller may do to a repository; every refusal as GitHub words it. */
import { ApiError, notFound } from './api-error.ts';
import { appTokenNeeded, type Caller } from './caller.ts';
import type { ApiContext } from './pipeline.ts';
import type { Repository, Role } from './state.ts';
import {
  type Account,
  findRepository,
  type GithubState,
  type InstallationToken,
  type Level,
} from './state.ts';
import { allows, tokenSees } from './tokens.ts';

/** One permission, or several of which any suffices (a comment: issues or pull_requests). */
export interface Need {
  permission: string | readonly string[];
  level: Level;
}

/** The repository of a `/repos/:owner/:repo/...` route, when the caller may do that there. */
export function accessRepository(state: GithubState, c: ApiContext, need: Need): Repository {
  const repository = findRepository(state, c.req.param('owner') ?? '', c.req.param('repo') ?? '');
  if (!repository) throw notFound();
  checkAccess(c.get('caller'), repository, need);
  return repository;
}

export function checkAccess(caller: Caller, repository: Repository, need: Need): void {
  const openRead = !repository.private && need.level === 'read';
  if (caller.kind === 'installation') {
    checkToken(caller.token, repository, need);
    return;
  }
  if (caller.kind === 'user') {
    const role = roleOf(repository, caller.account);
    if (role === null) throw notFound();
    if (need.level !== 'read' && !['admin', 'maintain', 'write'].includes(role)) throw forbidden(need);
    return;
  }
  if (caller.kind === 'app') throw new ApiError(401, 'Bad credentials');
  if (openRead) return;
  if (repository.private) throw notFound();
  throw new ApiError(401, 'Requires authentication');
}

function checkToken(token: InstallationToken, repository: Repository, need: Need): void {
  if (!tokenSees(token, repository.id)) {
    if (repository.private) throw notFound();
    if (need.level === 'read') return;
    throw forbidden(need);
  }
  const names = [need.permission].flat();
  // Metadata is what everybody who sees the repository has.
  const granted = names.some((name) => name === 'metadata' || allows(token.permissions, name, need.level));
  if (!granted && !(need.level === 'read' && !repository.private)) throw forbidden(need);
  if (repository.archived && need.level !== 'read') {
    throw new ApiError(403, 'Repository was archived so is read-only.');
  }
}

function forbidden(need: Need): ApiError {
  const accepted = [need.permission].flat().map((name) => `${name}=${need.level}`);
  return new ApiError(403, 'Resource not accessible by integration', {
    headers: { 'x-accepted-github-permissions': accepted.join('; ') },
  });
}

/** The role someone has, the owner's and everybody's on a public repository included; null for none. */
export function roleOf(repository: Repository, account: Account): Role | null {
  const own = repository.owner.id === account.id ? 'admin' : undefined;
  return own ?? repository.roles.get(account.login.toLowerCase()) ?? (repository.private ? null : 'read');
}

export function requireApp(c: ApiContext): void {
  if (c.get('caller').kind !== 'app') throw new ApiError(401, appTokenNeeded);
}

export function requireInstallationToken(c: ApiContext): InstallationToken {
  const caller = c.get('caller');
  if (caller.kind === 'installation') return caller.token;
  if (caller.kind === 'none') throw new ApiError(401, 'Requires authentication');
  throw new ApiError(403, 'Resource not accessible by integration');
}

export function requireUser(c: ApiContext): Account {
  const caller = c.get('caller');
  if (caller.kind === 'user') return caller.account;
  if (caller.kind === 'none') throw new ApiError(401, 'Requires authentication');
  throw new ApiError(403, 'Resource not accessible by integration');
}
