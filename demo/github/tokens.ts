/** Mints installation tokens, narrowed to what was asked for and never wider than the installation. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ApiError } from './api-error.ts';
import type { GithubState, Installation, InstallationToken, Level, Permissions } from './state.ts';

export const tokenRequestSchema = z.object({
  repositories: z.array(z.string()).max(500).optional(),
  repository_ids: z.array(z.number().int()).max(500).optional(),
  permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
});

const lifeMs = 60 * 60 * 1000;
const ranks: Record<Level, number> = { read: 1, write: 2, admin: 3 };

export const allows = (permissions: Permissions, name: string, level: Level): boolean =>
  ranks[permissions[name] ?? 'read'] >= ranks[level] && permissions[name] !== undefined;

export function mintToken(
  state: GithubState,
  installation: Installation,
  wanted: z.infer<typeof tokenRequestSchema>,
): InstallationToken {
  const minted: InstallationToken = {
    token: newSecret(state),
    installation,
    permissions: narrowedPermissions(installation, wanted.permissions),
    repositoryIds: narrowedRepositories(state, installation, wanted),
    expiresAtMs: state.nowMs() + lifeMs,
  };
  state.tokens.set(minted.token, minted);
  return minted;
}

function narrowedPermissions(installation: Installation, wanted: Permissions | undefined): Permissions {
  if (!wanted || Object.keys(wanted).length === 0) return { ...installation.permissions };
  const tooMuch = Object.entries(wanted).some(
    ([name, level]) => !allows(installation.permissions, name, level),
  );
  if (tooMuch) throw new ApiError(422, 'The permissions requested are not granted to this installation.');
  // GitHub adds it to every token.
  return { metadata: 'read', ...wanted };
}

function narrowedRepositories(
  state: GithubState,
  installation: Installation,
  wanted: z.infer<typeof tokenRequestSchema>,
): Set<number> | null {
  if (!wanted.repositories && !wanted.repository_ids) return null;
  const accessible = [...installation.repositoryIds].flatMap((id) => state.repositories.get(id) ?? []);
  const byName = (wanted.repositories ?? []).map((name) => accessible.find((each) => each.name === name)?.id);
  const byId = (wanted.repository_ids ?? []).map((id) => accessible.find((each) => each.id === id)?.id);
  const ids = [...byName, ...byId].filter((id) => id !== undefined);
  if (ids.length < byName.length + byId.length) {
    throw new ApiError(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  }
  return new Set(ids);
}

/**
 * GitHub is moving from 40 characters to a form of about 520 with dots in it; a client that bounds the length or
 * the alphabet breaks, so the new form is the default here.
 */
function newSecret(state: GithubState): string {
  if (state.tokenForm === 'short')
    return `ghs_${randomBytes(27).toString('base64url').replace(/[-_]/g, 'x')}`;
  const part = (bytes: number): string => randomBytes(bytes).toString('base64url');
  return `ghs_${state.app.id}_${part(27)}.${part(90)}.${part(256)}`;
}

/** The part of the installation's repositories that a token may see. */
export function tokenSees(token: InstallationToken, repositoryId: number): boolean {
  if (!token.installation.repositoryIds.has(repositoryId)) return false;
  return token.repositoryIds === null || token.repositoryIds.has(repositoryId);
}
