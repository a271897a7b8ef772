import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import { toUnixSeconds } from '../../clock.ts';
import { type ListedNotice, type NoticeStore, severities } from '../../policies/notice-store.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import { exampleIds, exampleTime } from './examples.ts';
import { type Guard, onlyAccountOf } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { stackRoles } from './stack-roles.ts';

const word = z.string().min(1).max(200);

export const noticeSchema = z
  .object({
    id: z.string(),
    account: z.string(),
    stack: z.string().optional().openapi({ description: 'Id of the stack that it is about.' }),
    run: z.string().optional(),
    severity: z.enum(severities),
    title: z.string(),
    body: z.string().openapi({ description: 'Plain text, of several lines perhaps.' }),
    at: z.number().int(),
  })
  .openapi('Notice', {
    example: {
      id: exampleIds.replay,
      account: 'acme',
      stack: 'network-prod',
      run: exampleIds.run,
      severity: 'WARNING',
      title: 'Network Prod waits for a person',
      body: 'It would delete 2 resources.',
      at: exampleTime,
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/notices',
  operationId: 'listNotices',
  tags: ['policies'],
  summary:
    'What notification policies say to people, and what went wrong with policies, about stacks that you may read',
  ...needs('any'),
  request: {
    query: pageQuery.extend({
      account: word.optional(),
      stack: word.optional().openapi({ description: 'Id of the stack; with `account`.' }),
      severity: z.enum(severities).optional(),
    }),
  },
  responses: { 200: json(pageOf(noticeSchema), 'A page, newest first.'), ...problems },
});

export function noticeRoutes(parts: {
  readonly access: Pick<Access, 'isInstanceAdmin'>;
  readonly guard: Guard;
  readonly notices: Pick<NoticeStore, 'list'>;
  readonly stackStore: Pick<StackStore, 'find' | 'findByKey'>;
}): Api {
  const { access, guard, notices, stackStore } = parts;
  const api = newApi();

  /** One that is about no stack is for those who administer the whole account. */
  const isOver = (actor: Actor, account: string): boolean =>
    access.isInstanceAdmin(actor) ||
    (actor.kind === 'token' &&
      includesRole(actor.role, 'admin') &&
      actor.account?.toLowerCase() === account.toLowerCase());

  function viewOf(actor: Actor) {
    const roles = stackRoles(guard, actor);
    const found = new Map<string, Promise<Stack | null>>();
    function find(key: string): Promise<Stack | null> {
      const stack = found.get(key) ?? stackStore.findByKey(key);
      found.set(key, stack);
      return stack;
    }
    return {
      isSpent: roles.isSpent,
      async show(notice: ListedNotice) {
        if (notice.stackKey === null) {
          return isOver(actor, notice.account) ? noticeObject(notice, null) : null;
        }
        const stack = await find(notice.stackKey);
        return stack && (await roles.roleOn(stack)) !== null ? noticeObject(notice, stack) : null;
      },
    };
  }

  api.openapi(listRoute, async (c) => {
    const { limit, cursor, account, stack: id, severity } = c.req.valid('query');
    const nothing = { items: [], nextCursor: null };
    const own = onlyAccountOf(c.var.actor);
    const asked = account ?? own;
    if (own !== null && own.toLowerCase() !== asked?.toLowerCase()) return c.json(nothing, 200);
    const stack = id === undefined || asked === null ? null : await stackStore.find(asked, id);
    if (id !== undefined && stack === null) return c.json(nothing, 200);
    const { show, isSpent } = viewOf(c.var.actor);
    const page = await visiblePage({
      ...{ limit, isSpent, show, after: decodeCursor(cursor, idPattern) },
      read: (before, count) =>
        notices.list({
          ...{ account: asked, before, limit: count },
          ...(stack ? { stackKey: stack.key } : {}),
          ...(severity === undefined ? {} : { severity }),
        }),
      positionOf: (notice) => notice.id,
    });
    return c.json(page, 200);
  });

  return api;
}

function noticeObject(
  { id, account, runId, severity, title, body, atMs }: ListedNotice,
  stack: Stack | null,
): z.infer<typeof noticeSchema> {
  return {
    ...{ id, account, severity, title, body, at: toUnixSeconds(atMs) },
    ...(stack ? { stack: stack.id } : {}),
    ...(runId === null ? {} : { run: runId }),
  };
}
