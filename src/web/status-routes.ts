import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../access/actor.ts';
import { problems } from './api/route-parts.ts';
import { type Api, newApi } from './api.ts';
import type { Authentication } from './authenticate.ts';
import type { Check, Health } from './health.ts';

export interface StatusRouteParts {
  readonly whoIs: (request: Request) => Promise<Authentication>;
  readonly isInstanceAdmin: (actor: Actor) => boolean;
  /** May take long on its first call; must not reject for what it finds. */
  readonly health: () => Promise<Health>;
}

const tags = ['status'];

const liveRoute = createRoute({
  method: 'get',
  path: '/healthz',
  operationId: 'isAlive',
  tags,
  summary: 'Whether the process answers',
  responses: {
    200: {
      description: 'It does.',
      content: { 'application/json': { schema: z.object({ status: z.literal('ok') }) } },
    },
  },
});

const check = z.object({ ok: z.boolean(), detail: z.string().optional(), hint: z.string().optional() });
const healthSchema = z
  .object({
    status: z.enum(['ready', 'unready']),
    checks: z.object({ database: check, disk: check, sandbox: check, tools: check }),
  })
  .openapi('Health');
const content = { 'application/json': { schema: healthSchema } };

const readyRoute = createRoute({
  method: 'get',
  path: '/readyz',
  operationId: 'isReady',
  tags,
  summary:
    'Whether deliveries are accepted and runs can be executed; details for instance administrators only',
  responses: {
    200: { description: 'Ready.', content },
    503: { description: 'Not ready.', content },
    ...problems,
  },
});

/** Whoever asks, anonymously and as often as they like, the look behind it is taken once in so long. */
const freshMs = 1000;

export function statusRoutes({ whoIs, isInstanceAdmin, health }: StatusRouteParts): Api {
  const api = newApi();
  let last: { readonly atMs: number; readonly found: Promise<Health> } | null = null;

  function look(): Promise<Health> {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs > freshMs) last = { atMs: nowMs, found: health() };
    return last.found;
  }

  api.openapi(liveRoute, (c) => c.json({ status: 'ok' as const }, 200));
  api.openapi(readyRoute, async (c) => {
    const found = await look();
    const who = await whoIs(c.req.raw);
    const isAdmin = who.kind === 'actor' && isInstanceAdmin(who.actor);
    return c.json(isAdmin ? found : withoutDetails(found), found.status === 'ready' ? 200 : 503);
  });
  return api;
}

/** Paths and versions of the host are nobody's business but its administrators'. */
function withoutDetails({ status, checks }: Health) {
  const { database, disk, sandbox, tools } = checks;
  const only = ({ ok }: Check) => ({ ok });
  return {
    status,
    checks: { database: only(database), disk: only(disk), sandbox: only(sandbox), tools: only(tools) },
  };
}
