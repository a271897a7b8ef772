import { createRoute, z } from '@hono/zod-openapi';
import { type Actor, type Role, roles } from '../../access/actor.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import type { InstalledRepository, RepositoryStore } from '../../stacks/repository-store.ts';
import { type Api, newApi } from '../api.ts';
import { inParallel } from '../in-parallel.ts';
import { pageOf, pageQuery } from '../page.ts';
import { type CursorBox, sealedCursors } from '../sealed-cursor.ts';
import { onlyAccountOf } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { askedAtOnce } from './stack-roles.ts';

export const repositorySchema = z
  .object({
    account: z.string(),
    repository: z.string().openapi({ description: '"owner/name"', example: 'acme/infra' }),
    defaultBranch: z.string(),
    private: z.boolean(),
    archived: z.boolean().openapi({ description: 'Nothing of its stacks starts.' }),
    role: z.enum(roles).openapi({ description: 'Yours.' }),
  })
  .openapi('Repository', {
    example: {
      account: 'acme',
      repository: 'acme/infra',
      defaultBranch: 'main',
      private: true,
      archived: false,
      role: 'admin',
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/repositories',
  operationId: 'listRepositories',
  tags: ['stacks'],
  summary:
    'Repositories that the App sees and you administer, which can have stacks of yours; or read, or write',
  ...needs('any'),
  description: 'Needs a token; may have fewer entries on a page than fit.',
  request: {
    query: pageQuery.extend({
      account: z.string().min(1).max(200).optional(),
      role: z.enum(roles).default('admin').openapi({ description: 'The least one that you have there.' }),
    }),
  },
  responses: { 200: json(pageOf(repositorySchema), 'A page of repositories.'), ...problems },
});

type RepositoryObject = z.infer<typeof repositorySchema>;

export interface RepositoryRouteParts {
  readonly access: Access;
  readonly repositories: Pick<RepositoryStore, 'list'>;
  readonly cursorBox: CursorBox;
}

/** Positions are GitHub's ids. */
const positionPattern = /^[1-9]\d{0,15}$/;

export function repositoryRoutes({ access, repositories, cursorBox }: RepositoryRouteParts): Api {
  const api = newApi();
  const cursors = sealedCursors(cursorBox, 'repositories');

  async function shownTo(
    actor: Actor,
    { account, repository }: InstalledRepository,
    wanted: Role,
  ): Promise<RepositoryObject | null> {
    const role = await access.require(actor, { account, repository }, 'reader');
    if (role === null || !includesRole(role, wanted)) return null;
    const { fullName, defaultBranch, isPrivate, isArchived = false } = repository;
    return { account, repository: fullName, defaultBranch, private: isPrivate, archived: isArchived, role };
  }

  api.openapi(listRoute, async (c) => {
    const { limit, cursor, account, role } = c.req.valid('query');
    const { actor } = c.var;
    const own = onlyAccountOf(actor);
    if (own !== null && account !== undefined && own.toLowerCase() !== account.toLowerCase()) {
      return c.json({ items: [], nextCursor: null }, 200);
    }
    const position = cursors.decode(cursor, positionPattern);
    const after = position === null ? null : Number(position);
    const rows = await repositories.list({ account: own ?? account ?? null, after, limit: limit + 1 });
    // So many rows are looked at and no more: who administers few of many would have all of them asked.
    const looked = rows.slice(0, limit);
    const items = await inParallel(looked, askedAtOnce, (row) => shownTo(actor, row, role));
    const last = rows.length > limit ? looked.at(-1) : undefined;
    const nextCursor = last === undefined ? null : cursors.encode(String(last.repository.id));
    return c.json({ items: items.filter((item) => item !== null), nextCursor }, 200);
  });

  return api;
}
