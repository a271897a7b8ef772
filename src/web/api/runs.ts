import { createRoute, z } from '@hono/zod-openapi';
import { actorKey } from '../../access/actor.ts';
import type { Gates } from '../../runs/approvals/gates.ts';
import type { RunCauseStore } from '../../runs/run-causes.ts';
import { phases, type RunStore } from '../../runs/run-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, encodeCursor, pageOf, pageQuery, wholeListQuery } from '../page.ts';
import { type EventStreams, streamResponse } from './event-streams.ts';
import { commandExample, stateChangeExample, stepExample } from './examples.ts';
import type { Guard } from './guard.ts';
import { json, needs, problems, refuses, runParams, runPath } from './route-parts.ts';
import { runObject, runSchema, runState } from './run-object.ts';
import { stateChangeObject, stateEvents } from './state-events.ts';

const tags = ['runs'];

const showRoute = createRoute({
  method: 'get',
  path: runPath,
  operationId: 'getRun',
  tags,
  summary: 'One run',
  ...needs('reader'),
  request: { params: runParams },
  responses: { 200: json(runSchema, 'The run.'), ...problems },
});

const stateChange = z
  .object({
    state: runState,
    stateVersion: z.number().int(),
    timestamp: z.number().int(),
    actor: z.string(),
    note: z.string().optional(),
  })
  .openapi({ example: stateChangeExample });

const statesRoute = createRoute({
  method: 'get',
  path: `${runPath}/states`,
  operationId: 'listRunStates',
  tags,
  summary: 'State changes of a run, oldest first',
  ...needs('reader'),
  request: { params: runParams, query: wholeListQuery },
  responses: { 200: json(pageOf(stateChange), 'All of them.'), ...problems },
});

const stateStreamRoute = createRoute({
  method: 'get',
  path: `${runPath}/states/stream`,
  operationId: 'streamRunStates',
  tags,
  summary: 'State changes of a run as they happen, as server-sent events `state` and, last, `end`',
  ...needs('reader'),
  ...refuses('too-many-streams'),
  request: {
    params: runParams,
    query: z.object({
      after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).openapi({
        description: 'Begins after that `stateVersion`; `Last-Event-ID` goes before it.',
      }),
    }),
    headers: z.object({
      'last-event-id': z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().openapi({
        description: 'Goes on after that event: its id is its `stateVersion`.',
      }),
    }),
  },
  responses: {
    200: {
      description: '`data` of a `state` event: as in the list of states; of `end`: {state}.',
      content: {
        'text/event-stream': {
          schema: z.string(),
          example: 'id: 6\nevent: state\ndata: {"state":"UNCONFIRMED","stateVersion":6}\n\n',
        },
      },
    },
    ...problems,
  },
});

export const commandSchema = z
  .object({
    phase: z.enum(phases),
    label: z.string(),
    argv: z.array(z.string()),
    startedAtMs: z.number().int(),
    durationMs: z.number().int(),
    exitCode: z.number().int().nullable().openapi({ description: 'Null when it was killed.' }),
  })
  .openapi({ example: commandExample });

const commandsRoute = createRoute({
  method: 'get',
  path: `${runPath}/commands`,
  operationId: 'listRunCommands',
  tags,
  summary: 'Commands that a run executed, hooks included, in order',
  ...needs('reader'),
  request: { params: runParams, query: wholeListQuery },
  responses: { 200: json(pageOf(commandSchema), 'All of them.'), ...problems },
});

const changes = z
  .object({
    hasChanges: z.boolean().nullable().openapi({ description: 'Null while nothing was planned.' }),
    items: z.array(z.unknown()).openapi({ description: 'Steps as in the specification, §2.3.' }),
    nextCursor: z.string().nullable(),
  })
  .openapi({ example: { hasChanges: true, items: [stepExample], nextCursor: null } });

const changesRoute = createRoute({
  method: 'get',
  path: `${runPath}/changes`,
  operationId: 'listRunChanges',
  tags,
  summary: 'Planned steps of a run, in the order of the tool',
  ...needs('reader'),
  request: { params: runParams, query: pageQuery },
  responses: { 200: json(changes, 'A page of steps.'), ...problems },
});

export function runRoutes(parts: {
  readonly guard: Guard;
  readonly runs: RunStore;
  readonly gates: Gates;
  readonly causes: Pick<RunCauseStore, 'find'>;
  readonly streams: EventStreams;
}): Api {
  const { guard, runs, streams } = parts;
  const api = newApi();

  api.openapi(showRoute, async (c) => {
    const { run, stack } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    return c.json(await runObject(run, stack, parts), 200);
  });

  api.openapi(statesRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const items = (await runs.events(run.id)).map(stateChangeObject);
    return c.json({ items, nextCursor: null }, 200);
  });

  api.openapi(stateStreamRoute, async (c) => {
    const { actor, isStillKnown } = c.var;
    const { run } = await guard.run(actor, c.req.valid('param').run, 'reader');
    const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after;
    return streamResponse(c.req.method, streams, {
      next: stateEvents(runs, run, after),
      reader: actorKey(actor),
      isAllowed: async () => (await isStillKnown()) && guard.reads(actor, run.id),
    });
  });

  api.openapi(commandsRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const items = (await runs.commands(run.id)).map((record) => ({ ...record, argv: [...record.argv] }));
    return c.json({ items, nextCursor: null }, 200);
  });

  api.openapi(changesRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const { limit, cursor } = c.req.valid('query');
    const start = Number(decodeCursor(cursor, /^\d{1,9}$/) ?? 0);
    const plan = await runs.plan(run.id);
    const steps = plan?.steps ?? [];
    const end = start + limit;
    const nextCursor = end < steps.length ? encodeCursor(String(end)) : null;
    return c.json({ hasChanges: plan?.hasChanges ?? null, items: steps.slice(start, end), nextCursor }, 200);
  });

  return api;
}
