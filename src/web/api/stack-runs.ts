import { createRoute, z } from '@hono/zod-openapi';
import type { RunStore } from '../../runs/run-store.ts';
import type { Triggers } from '../../runs/triggers.ts';
import { stackSettingsInput } from '../../stacks/stack-input.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import type { Guard } from './guard.ts';
import { json, jsonBody, needs, problems, stackParams, stackPath } from './route-parts.ts';
import { runObject, runSchema, runTypes } from './run-object.ts';

export interface StackRunRouteParts {
  readonly guard: Guard;
  readonly runs: RunStore;
  readonly triggers: Pick<Triggers, 'manual'>;
}

const path = `${stackPath}/runs`;
const tags = ['runs'];

const triggerInput = z
  .strictObject({
    type: z.enum(runTypes),
    branch: stackSettingsInput.shape.branch,
    sha: z
      .string()
      .regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a full commit hash in lower case')
      .optional(),
    command: z.string().max(10_000).optional().openapi({ description: 'TASK only: for `bash -c`.' }),
  })
  .openapi('NewRun');

const listRoute = createRoute({
  method: 'get',
  path,
  tags,
  summary: 'Runs of a stack, newest first',
  ...needs('reader'),
  request: { params: stackParams, query: pageQuery },
  responses: { 200: json(pageOf(runSchema), 'A page of runs.'), ...problems },
});

const triggerRoute = createRoute({
  method: 'post',
  path,
  tags,
  summary: 'Start a run',
  ...needs('writer'),
  request: { params: stackParams, ...jsonBody(triggerInput) },
  responses: {
    201: { ...json(runSchema, 'The run, QUEUED.'), headers: z.object({ location: z.string() }) },
    ...problems,
  },
});

export function stackRunRoutes({ guard, runs, triggers }: StackRunRouteParts): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'reader');
    const { limit, cursor } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (before, count) => runs.listOfStack(stack.key, { before, limit: count }),
      positionOf: ({ id }) => id,
      show: (run) => runObject(run, stack, runs),
    });
    return c.json(page, 200);
  });

  api.openapi(triggerRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'writer');
    const run = await triggers.manual(stack, c.req.valid('json'), c.var.actor);
    c.header('location', `/api/v1/runs/${run.id}`);
    return c.json(await runObject(run, stack, runs), 201);
  });

  return api;
}
