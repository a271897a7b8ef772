import { createRoute, z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import type { Override } from '../../policies/override-store.ts';
import type { Overrides } from '../../policies/overrides.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import type { Guard } from './guard.ts';
import { json, jsonBody, needs, problems, refuses, runParams, runPath } from './route-parts.ts';

const reason = z.string().trim().min(1).max(1000);

export const overrideSchema = z
  .object({
    run: z.string().openapi({ description: 'The run that policies denied.' }),
    changesDigest: z.string().openapi({ description: 'What it lets pass: see the run object.' }),
    by: z.string().openapi({ description: 'Login of a person, or the name of a token.' }),
    reason,
    timestamp: z.number().int(),
  })
  .openapi('Override', {
    example: {
      run: '01JD4Z0P6V3Q8N5T2W7X9Y1B4C',
      changesDigest: '3f0a'.repeat(16),
      ...{ by: 'grace', reason: 'agreed with the owners of the database', timestamp: 1_795_000_200 },
    },
  });

const overrideRoute = createRoute({
  method: 'post',
  path: `${runPath}/override`,
  operationId: 'overrideRun',
  tags: ['policies'],
  summary: 'Let changes pass that plan policies denied',
  ...needs('admin'),
  ...refuses('not-denied'),
  request: {
    params: runParams,
    ...jsonBody(
      z.object({ reason }).openapi({ example: { reason: 'agreed with the owners of the database' } }),
    ),
  },
  responses: {
    200: json(
      overrideSchema,
      'From now on a run of the stack with just these changes is not denied: retry this one. Its denials count as warnings.',
    ),
    ...problems,
  },
});

const overridesRoute = createRoute({
  method: 'get',
  path: `${runPath}/overrides`,
  operationId: 'listRunOverrides',
  tags: ['policies'],
  summary: 'Who let the changes of a run pass, there or on an earlier run of the stack, oldest first',
  ...needs('reader'),
  request: { params: runParams, query: wholeListQuery },
  responses: { 200: json(pageOf(overrideSchema), 'All of them.'), ...problems },
});

export function runOverrideRoutes({ guard, overrides }: { guard: Guard; overrides: Overrides }): Api {
  const api = newApi();

  api.openapi(overrideRoute, async (c) => {
    const { actor } = c.var;
    const { run } = await guard.run(actor, c.req.valid('param').run, 'admin');
    const override = await overrides.override(run.id, { actor, reason: c.req.valid('json').reason });
    return c.json(overrideObject(override), 200);
  });

  api.openapi(overridesRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    return c.json({ items: (await overrides.of(run)).map(overrideObject), nextCursor: null }, 200);
  });

  return api;
}

function overrideObject({ runId, changesDigest, actorName, reason, atMs }: Override) {
  return { run: runId, changesDigest, by: actorName, reason, timestamp: toUnixSeconds(atMs) };
}
