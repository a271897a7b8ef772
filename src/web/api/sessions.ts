import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import type { SessionRecord } from '../../access/session-store.ts';
import type { Sessions } from '../../access/sessions.ts';
import { toUnixSeconds } from '../../clock.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import { exampleTime } from './examples.ts';
import { json, needs, problems, refuses } from './route-parts.ts';

const path = '/api/v1/sessions';
const tags = ['access'];
const description = 'For people: whoever is logged in sees and ends their own sessions.';

const exampleSession = '01JD4WZ3N7Q9S1V4X6Y8A2C5EG';

export const sessionSchema = z
  .object({
    id: z.string(),
    userAgent: z.string().openapi({ description: 'What the browser said of itself.' }),
    createdAt: z.number().int(),
    lastUsedAt: z.number().int().openapi({ description: 'A few minutes old at most.' }),
  })
  .openapi('Session', {
    example: {
      id: exampleSession,
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      createdAt: exampleTime,
      lastUsedAt: exampleTime,
    },
  });

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listSessions',
  tags,
  summary: 'Where you are logged in',
  ...needs('any'),
  ...refuses('forbidden'),
  description,
  request: { query: wholeListQuery },
  responses: { 200: json(pageOf(sessionSchema), 'All that are not over, newest first.'), ...problems },
});

const endRoute = createRoute({
  method: 'delete',
  path: `${path}/{session}`,
  operationId: 'endSession',
  tags,
  summary: 'Log out one of your browsers',
  ...needs('any'),
  description,
  request: {
    params: z.object({
      session: z
        .string()
        .min(1)
        .max(200)
        .openapi({ description: 'Id of the session.', example: exampleSession }),
    }),
  },
  responses: { 204: { description: 'Logged out.' }, ...problems },
});

export interface SessionRouteParts {
  readonly sessions: Pick<Sessions, 'listOf' | 'endOne'>;
}

export function sessionRoutes({ sessions }: SessionRouteParts): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const userId = userIdOf(c.var.actor);
    const records = userId === null ? [] : await sessions.listOf(userId);
    return c.json({ items: records.map(sessionObject), nextCursor: null }, 200);
  });

  api.openapi(endRoute, async (c) => {
    const userId = userIdOf(c.var.actor);
    const isEnded = userId !== null && (await sessions.endOne(userId, c.req.valid('param').session));
    if (!isEnded) throw notFound();
    return c.body(null, 204);
  });

  return api;
}

/** Null: who it is at GitHub is not known, and nobody logged in so. Throws `forbidden`. */
function userIdOf(actor: Actor): number | null {
  if (actor.kind !== 'person') throw new UserError('forbidden', 'Only people have sessions.');
  return actor.userId ?? null;
}

function sessionObject(record: SessionRecord): z.infer<typeof sessionSchema> {
  const { id, userAgent, createdAtMs, lastUsedAtMs } = record;
  return { id, userAgent, createdAt: toUnixSeconds(createdAtMs), lastUsedAt: toUnixSeconds(lastUsedAtMs) };
}
