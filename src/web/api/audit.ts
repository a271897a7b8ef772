import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import { type AuditLog, type AuditRow, auditOutcomes } from '../../access/audit-log.ts';
import { ways } from '../../access/origin.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import { toUnixSeconds } from '../../clock.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, pageOf, pageQuery, visiblePage } from '../page.ts';
import { auditExample } from './examples.ts';
import { type Guard, onlyAccountOf } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { stackRoles } from './stack-roles.ts';

export interface AuditRouteParts {
  readonly access: Pick<Access, 'isInstanceAdmin'>;
  readonly guard: Guard;
  readonly audit: Pick<AuditLog, 'list'>;
  readonly repositories: Pick<RepositoryStore, 'find'>;
}

const seconds = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const word = z.string().min(1).max(200);

export const auditSchema = z
  .object({
    id: z.string().openapi({ description: 'Higher for what was begun later.' }),
    at: z.number().int(),
    actor: z.object({
      kind: z.enum(['person', 'token', 'operator']),
      key: z.string().openapi({ example: 'person:ada' }),
      name: z.string(),
    }),
    via: z.enum(ways),
    address: z.string().nullable().openapi({ description: 'Of the other end of the connection.' }),
    forwardedFor: z
      .string()
      .optional()
      .openapi({ description: 'X-Forwarded-For as it was claimed; never verified.' }),
    operation: z.string().openapi({ example: 'POST /api/v1/runs/{run}/confirm' }),
    parameters: z.record(z.string(), z.string()),
    account: z.string().optional(),
    stack: z.string().optional().openapi({ description: 'Id of the stack.' }),
    run: z.string().optional(),
    outcome: z.enum(auditOutcomes).openapi({
      description: 'unknown: it is being done, or the server ended before it was.',
    }),
    status: z.number().int().nullable().openapi({ description: 'Of the answer; null for other ways.' }),
    note: z.string().optional(),
  })
  .openapi('AuditEntry', { example: auditExample });

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/audit',
  operationId: 'listAudit',
  tags: ['access'],
  summary: 'Who did what: all of it for administrators of the instance, else of stacks that you administer',
  ...needs('any'),
  request: {
    query: pageQuery.extend({
      account: word.optional(),
      stack: word.optional(),
      actor: word.optional().openapi({ description: 'A name, or a key such as person:ada.' }),
      since: seconds.optional().openapi({ description: 'Unix seconds.' }),
      until: seconds.optional().openapi({ description: 'Unix seconds; not included.' }),
    }),
  },
  responses: { 200: json(pageOf(auditSchema), 'A page, newest first.'), ...problems },
});

export function auditRoutes({ access, guard, audit, repositories }: AuditRouteParts): Api {
  const api = newApi();

  /** Rights hold for a repository. Of what is in none only the instance knows. */
  function readerOf(actor: Actor) {
    const roles = stackRoles(guard, actor);
    const found = new Map<number, Promise<Repository | null>>();
    function find(id: number): Promise<Repository | null> {
      const repository = found.get(id) ?? repositories.find(id);
      found.set(id, repository);
      return repository;
    }
    return {
      isSpent: roles.isSpent,
      async mayRead({ subject: { repositoryId, account, stack } }: AuditRow): Promise<boolean> {
        if (access.isInstanceAdmin(actor)) return true;
        if (repositoryId === null || account === null) return false;
        const repository = await find(repositoryId);
        const role =
          repository &&
          (await roles.roleOn({ account, repository, ...(stack === null ? {} : { id: stack }) }));
        return role !== null && includesRole(role, 'admin');
      },
    };
  }

  api.openapi(listRoute, async (c) => {
    const { limit, cursor, account, stack = null, actor = null, since, until } = c.req.valid('query');
    const own = onlyAccountOf(c.var.actor);
    if (own !== null && account !== undefined && own.toLowerCase() !== account.toLowerCase()) {
      return c.json({ items: [], nextCursor: null }, 200);
    }
    const { mayRead, isSpent } = readerOf(c.var.actor);
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, /^\d{1,15}$/),
      read: (before, count) =>
        audit.list({
          ...{ account: own ?? account ?? null, stack, actor },
          ...{
            sinceMs: since === undefined ? null : since * 1000,
            untilMs: until === undefined ? null : until * 1000,
          },
          ...{ before: before === null ? null : Number(before), limit: count },
        }),
      positionOf: ({ seq }) => String(seq),
      isSpent,
      show: async (row) => ((await mayRead(row)) ? auditObject(row) : null),
    });
    return c.json(page, 200);
  });

  return api;
}

function auditObject({ subject, origin, note, ...row }: AuditRow): z.infer<typeof auditSchema> {
  return {
    id: String(row.seq),
    at: toUnixSeconds(row.atMs),
    actor: row.actor,
    via: origin.via,
    address: origin.address,
    ...(origin.forwardedFor === null ? {} : { forwardedFor: origin.forwardedFor }),
    operation: row.operation,
    parameters: { ...row.params },
    ...(subject.account === null ? {} : { account: subject.account }),
    ...(subject.stack === null ? {} : { stack: subject.stack }),
    ...(subject.run === null ? {} : { run: subject.run }),
    outcome: row.outcome,
    status: row.status,
    ...(note === null ? {} : { note }),
  };
}
