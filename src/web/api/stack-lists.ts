import { createRoute, z } from '@hono/zod-openapi';
import { roles } from '../../access/actor.ts';
import { includesRole } from '../../access/roles.ts';
import { type StackFilter, type StackList, type StackSort, stackSorts } from '../../runs/stack-list.ts';
import { buckets } from '../../runs/stack-summary.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, pageQuery, visiblePage } from '../page.ts';
import { type CursorBox, sealedCursors } from '../sealed-cursor.ts';
import { type Guard, onlyAccountOf } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { countStacks, stackCountsSchema } from './stack-counts.ts';
import { stackObjectWith, stackSchema } from './stack-object.ts';
import { stackRoles } from './stack-roles.ts';

export interface StackListRouteParts {
  readonly guard: Guard;
  readonly stackList: StackList;
  readonly cursorBox: CursorBox;
}

const tags = ['stacks'];

const filters = z.object({
  q: z.string().max(200).optional().openapi({
    description: 'Text somewhere in the name, id, repository, project root or a label.',
  }),
  label: z.string().max(100).optional(),
  repository: z.string().max(200).optional().openapi({ description: 'owner/name' }),
});

const listQuery = pageQuery.extend({
  cursor: z.string().max(1000).optional().openapi({ description: '`nextCursor` of the page before.' }),
  state: z.enum(buckets).optional().openapi({ description: 'The bucket.' }),
  ...filters.shape,
  role: z.enum(roles).optional().openapi({ description: 'Those where you have this role, or a higher one.' }),
  sort: z.enum(stackSorts).optional().openapi({
    description:
      'attention: by bucket; changed: the last change of state first. Left out: in the order of their making.',
  }),
});

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/stacks',
  operationId: 'listStacks',
  tags,
  summary: 'Stacks that the token may read',
  ...needs('any'),
  request: { query: listQuery },
  responses: { 200: json(pageOf(stackSchema), 'A page of stacks.'), ...problems },
});

const countsRoute = createRoute({
  method: 'get',
  path: '/api/v1/stacks/counts',
  operationId: 'countStacks',
  tags,
  summary: 'How many stacks that the token may read are in each bucket',
  ...needs('any'),
  request: { query: filters },
  responses: { 200: json(stackCountsSchema, 'The counts.'), ...problems },
});

const key = '"[0-9A-Z]{26}"';
const text = String.raw`"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"`;
/** What stands in a cursor of each order: see ListedStack.position. */
const positions: Readonly<Record<StackSort, RegExp>> = {
  age: new RegExp(`^\\[${key}\\]$`),
  name: new RegExp(`^\\[${text},${key}\\]$`, 'u'),
  changed: new RegExp(`^\\[-?\\d{1,15},${key}\\]$`),
  attention: new RegExp(`^\\[\\d,-?\\d{1,15},${key}\\]$`),
};

export function stackListRoutes({ guard, stackList, cursorBox }: StackListRouteParts): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const { limit, cursor, sort = 'age', state, role: wanted = 'reader', ...given } = c.req.valid('query');
    const actor = c.var.actor;
    const seen = stackRoles(guard, actor);
    const filter = {
      ...filterOf(given, onlyAccountOf(actor)),
      ...(state === undefined ? {} : { bucket: state }),
    };
    const cursors = sealedCursors(cursorBox, `stacks ${sort}`);
    const page = await visiblePage({
      limit,
      after: cursors.decode(cursor, positions[sort]),
      encode: cursors.encode,
      read: (after, count) => stackList.page(filter, { sort, after, limit: count }),
      positionOf: ({ position }) => position,
      isSpent: seen.isSpent,
      async show({ stack, summary }, following) {
        const role = await seen.roleOn(
          stack,
          following.map((each) => each.stack),
        );
        return role && includesRole(role, wanted) ? stackObjectWith(stack, summary, role) : null;
      },
    });
    return c.json(page, 200);
  });

  api.openapi(countsRoute, async (c) => {
    const actor = c.var.actor;
    const counted = await stackList.counted(filterOf(c.req.valid('query'), onlyAccountOf(actor)));
    return c.json(await countStacks(counted, stackRoles(guard, actor)), 200);
  });

  return api;
}

function filterOf({ q, label, repository }: z.output<typeof filters>, account: string | null): StackFilter {
  return {
    ...(account === null ? {} : { account }),
    // An empty field of a form says nothing.
    ...(q ? { text: q } : {}),
    ...(label ? { label } : {}),
    ...(repository ? { repository } : {}),
  };
}
