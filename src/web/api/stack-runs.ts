import { createRoute, z } from '@hono/zod-openapi';
import type { Gates } from '../../runs/approvals/gates.ts';
import type { RunCauseStore } from '../../runs/run-causes.ts';
import type { RunList } from '../../runs/run-list.ts';
import type { RunStore } from '../../runs/run-store.ts';
import type { Triggers } from '../../runs/triggers.ts';
import { stackSettingsInput } from '../../stacks/stack-input.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, encodeCursor, idPattern, pageOf } from '../page.ts';
import type { Guard } from './guard.ts';
import {
  idempotencyHeader,
  json,
  jsonBody,
  needs,
  problems,
  refuses,
  stackParams,
  stackPath,
} from './route-parts.ts';
import { runFilterOf, runFilterQuery } from './run-list.ts';
import { runObject, runSchema, runTypes } from './run-object.ts';

export interface StackRunRouteParts {
  readonly guard: Guard;
  readonly runs: RunStore;
  readonly gates: Gates;
  readonly causes: Pick<RunCauseStore, 'find'>;
  readonly runList: RunList;
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
  .openapi('NewRun', { example: { type: 'TRACKED', branch: 'main' } });

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listStackRuns',
  tags,
  summary: 'Runs of a stack, newest first',
  ...needs('reader'),
  request: { params: stackParams, query: runFilterQuery },
  responses: { 200: json(pageOf(runSchema), 'A page of runs.'), ...problems },
});

const triggerRoute = createRoute({
  method: 'post',
  path,
  operationId: 'startRun',
  tags,
  summary: 'Start a run',
  ...needs('writer'),
  ...refuses(
    'repository-away',
    'command-required',
    'commit-not-found',
    'commit-not-tracked',
    'source-unavailable',
  ),
  request: { params: stackParams, headers: idempotencyHeader, ...jsonBody(triggerInput) },
  responses: {
    201: { ...json(runSchema, 'The run, QUEUED.'), headers: z.object({ location: z.string() }) },
    ...problems,
  },
});

export function stackRunRoutes(parts: StackRunRouteParts): Api {
  const { guard, runList, triggers } = parts;
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'reader');
    const query = c.req.valid('query');
    const before = decodeCursor(query.cursor, idPattern);
    const filter = { ...runFilterOf(query), stackKeys: [stack.key] };
    const { runs: found, next } = await runList.page(filter, { before, limit: query.limit });
    const items = await Promise.all(found.map((run) => runObject(run, stack, parts)));
    return c.json({ items, nextCursor: next && encodeCursor(next) }, 200);
  });

  api.openapi(triggerRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'writer');
    const run = await triggers.manual(stack, c.req.valid('json'), c.var.actor);
    c.header('location', `/api/v1/runs/${run.id}`);
    return c.json(await runObject(run, stack, parts), 201);
  });

  return api;
}
