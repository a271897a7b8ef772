import { createRoute, z } from '@hono/zod-openapi';
import type { EventFeed } from '../../runs/event-feed.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, encodeCursor, pageQuery, visiblePage } from '../page.ts';
import { payloadExample } from './examples.ts';
import { type Guard, onlyAccountOf } from './guard.ts';
import { anyObject, json, needs, problems } from './route-parts.ts';
import { stackRoles } from './stack-roles.ts';

export interface EventRouteParts {
  readonly guard: Guard;
  readonly stackStore: Pick<StackStore, 'findByKey'>;
  readonly events: EventFeed;
}

const eventsQuery = pageQuery.omit({ cursor: true }).extend({
  after: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: '`cursor` of the last entry seen; empty = from the beginning.' }),
});

const page = z.object({
  items: z.array(
    z.object({
      cursor: z.string().openapi({ example: 'MTI' }),
      payload: anyObject.openapi({ description: 'The webhook body.', example: payloadExample }),
    }),
  ),
  nextCursor: z.string().nullable().openapi({ description: 'For `after`; null when there is no more now.' }),
  incomplete: z.literal(true).optional().openapi({
    description: 'There were state changes behind `after` that were removed for their age; absent otherwise.',
  }),
});

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/events',
  operationId: 'listEvents',
  tags: ['runs'],
  summary: 'Every state change of the runs that the token may read, oldest first',
  ...needs('any'),
  request: { query: eventsQuery },
  responses: { 200: json(page, 'A page of state changes.'), ...problems },
});

export function eventRoutes({ guard, stackStore, events }: EventRouteParts): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const actor = c.var.actor;
    const account = onlyAccountOf(actor);
    const roles = stackRoles(guard, actor);
    const seen = new Map<string, Promise<boolean>>();
    const { limit, after } = c.req.valid('query');

    async function judge(stackKey: string): Promise<boolean> {
      const stack = await stackStore.findByKey(stackKey);
      return stack !== null && (await roles.roleOn(stack)) !== null;
    }
    function isVisible(stackKey: string): Promise<boolean> {
      const known = seen.get(stackKey) ?? judge(stackKey);
      seen.set(stackKey, known);
      return known;
    }

    const position = decodeCursor(after, /^\d{1,15}$/, 'after');
    const found = await visiblePage({
      limit,
      after: position,
      read: (seq, count) => events.read({ after: Number(seq ?? 0), account, limit: count }),
      positionOf: ({ seq }) => String(seq),
      isSpent: roles.isSpent,
      show: async ({ seq, stackKey, payload }) =>
        (await isVisible(stackKey)) ? { cursor: encodeCursor(String(seq)), payload: parse(payload) } : null,
    });
    // Asked last: what is removed while the page is read is missing in it.
    const isIncomplete = Number(position ?? 0) < (await events.removedUpTo());
    return c.json({ ...found, ...(isIncomplete ? { incomplete: true as const } : {}) }, 200);
  });

  return api;
}

function parse(payload: Uint8Array): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(Buffer.from(payload).toString('utf8')));
}
