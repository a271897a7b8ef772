import { createRoute, z } from '@hono/zod-openapi';
import { actorName } from '../../access/actor.ts';
import { type Clock, toUnixSeconds } from '../../clock.ts';
import { runStates } from '../../runs/run.ts';
import { UserError } from '../../user-error.ts';
import type { Replay, ReplayCount, ReplayRange } from '../../webhooks/replay-store.ts';
import { type Replays, totalOf } from '../../webhooks/replays.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import { notFound, refuse } from '../problem.ts';
import { exampleTime, replayExample } from './examples.ts';
import { json, jsonBody, needs, problems, refuses } from './route-parts.ts';
import { webhookParams, webhookPath } from './webhook.ts';
import type { WebhookGuard } from './webhook-guard.ts';

const tags = ['webhooks'];
/** Unix seconds. The limit is the year 9999: beyond it is a time in milliseconds. */
const time = z.number().int().min(0).max(253_402_300_799);

const replayInput = z
  .strictObject({
    since: time.openapi({ description: 'State changes from that time on.' }),
    until: time.optional().openapi({ description: 'Up to and including that second; default: now.' }),
    state: z.enum(runStates).optional().openapi({ description: 'Only changes to that state.' }),
    failedOnly: z.boolean().default(false).openapi({
      description: 'Only what was not delivered: given up, failed so far, skipped, or never queued.',
    }),
    dryRun: z.boolean().default(false).openapi({ description: 'Only count.' }),
  })
  .openapi('NewReplay', { example: { since: exampleTime - 7200, failedOnly: true, dryRun: true } });

export const startedSchema = z
  .object({
    count: z.number().int().openapi({ description: 'State changes that are sent.' }),
    states: z.record(z.string(), z.number().int()).openapi({ description: 'The same for each state.' }),
    oldest: z.number().int().nullable().openapi({
      description: 'Nothing older is kept of this stack; null when there is nothing.',
    }),
    replay: z.string().optional().openapi({ description: 'Its id; absent when nothing is sent.' }),
  })
  .openapi('StartedReplay', {
    example: { count: 12, states: { FINISHED: 8, FAILED: 4 }, oldest: exampleTime - 86_400 },
  });

export const replaySchema = z
  .object({
    id: z.string(),
    webhook: z.string(),
    status: z.enum(['running', 'done', 'canceled']).openapi({
      description: 'done: all of it is queued; its deliveries say what became of it.',
    }),
    since: z.number().int(),
    until: z.number().int(),
    state: z.enum(runStates).optional(),
    failedOnly: z.boolean(),
    total: z.number().int().openapi({ description: 'State changes that were found at the beginning.' }),
    queued: z.number().int().openapi({ description: 'State changes that are queued so far.' }),
    createdAt: z.number().int(),
    createdBy: z.string(),
    endedAt: z.number().int().optional(),
  })
  .openapi('Replay', { example: replayExample });

const startRoute = createRoute({
  method: 'post',
  path: `${webhookPath}/replay`,
  operationId: 'startReplay',
  tags,
  summary: 'Send the state changes of a while again, little by little, the undelivered only if wanted',
  ...needs('writer'),
  ...refuses('replay-running', 'webhook-disabled'),
  request: { params: webhookParams, ...jsonBody(replayInput) },
  responses: { 202: json(startedSchema, 'What is sent, or would be.'), ...problems },
});

const listRoute = createRoute({
  method: 'get',
  path: `${webhookPath}/replays`,
  operationId: 'listReplays',
  tags,
  summary: 'Replays of a webhook, newest first',
  ...needs('reader'),
  request: { params: webhookParams, query: pageQuery },
  responses: { 200: json(pageOf(replaySchema), 'A page of replays.'), ...problems },
});

const cancelRoute = createRoute({
  method: 'post',
  path: `${webhookPath}/replays/{replay}/cancel`,
  operationId: 'cancelReplay',
  tags,
  summary: 'Queue no more of a replay; what is queued is sent',
  ...needs('writer'),
  request: {
    params: webhookParams.extend({
      replay: z.string().min(1).max(200).openapi({
        description: 'Id of the replay.',
        example: '01JD4Z0P6V3Q8N5T2W7X9Y1B4C',
      }),
    }),
  },
  responses: { 200: json(replaySchema, 'The replay as it is now.'), ...problems },
});

export function replayRoutes(parts: {
  readonly webhookGuard: WebhookGuard;
  readonly replays: Replays;
  readonly clock: Clock;
}): Api {
  const { webhookGuard, replays } = parts;
  const api = newApi();

  api.openapi(startRoute, async (c) => {
    const id = c.req.valid('param').webhook;
    await webhookGuard.stackOf(c.var.actor, id, 'writer');
    const input = c.req.valid('json');
    const range = rangeOf(input, parts.clock.nowMs());
    if (input.dryRun) {
      const count = await replays.count(id, range);
      if (!count) throw notFound();
      return c.json(countObject(count), 202);
    }
    const start = await replays.start(id, range, actorName(c.var.actor));
    if (!start) throw notFound();
    if (start.kind === 'already-running') {
      refuse('replay-running', {
        detail: `The webhook has a running replay: ${start.id}.`,
        hint: 'Wait for its end, or cancel it.',
        extra: { replay: start.id },
      });
    }
    const replay = start.kind === 'started' ? { replay: start.id } : {};
    return c.json({ ...countObject(start.count), ...replay }, 202);
  });

  api.openapi(listRoute, async (c) => {
    const id = c.req.valid('param').webhook;
    await webhookGuard.stackOf(c.var.actor, id, 'reader');
    const { limit, cursor } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (before, count) => replays.list(id, { before, limit: count }),
      positionOf: (replay) => replay.id,
      show: async (replay) => replayObject(replay),
    });
    return c.json(page, 200);
  });

  api.openapi(cancelRoute, async (c) => {
    const { webhook, replay: id } = c.req.valid('param');
    await webhookGuard.stackOf(c.var.actor, webhook, 'writer');
    const found = await replays.find(id);
    if (found?.webhookId !== webhook) throw notFound();
    const replay = await replays.cancel(id, actorName(c.var.actor));
    if (!replay) throw notFound();
    return c.json(replayObject(replay), 200);
  });

  return api;
}

function rangeOf(input: z.infer<typeof replayInput>, nowMs: number): ReplayRange {
  const { since, until, state = null, failedOnly } = input;
  if (until !== undefined && until < since) {
    const message = 'must not be before since';
    throw new UserError('invalid-input', `until: ${message}`, { issues: [{ path: 'until', message }] });
  }
  // Seconds of the payload are cut off: a whole second belongs to the time that it begins with.
  return { sinceMs: since * 1000, untilMs: ((until ?? toUnixSeconds(nowMs)) + 1) * 1000, state, failedOnly };
}

function countObject(count: ReplayCount) {
  return {
    count: totalOf(count),
    states: Object.fromEntries(count.states),
    oldest: count.oldestMs === null ? null : toUnixSeconds(count.oldestMs),
  };
}

function replayObject(replay: Replay): z.infer<typeof replaySchema> {
  const { id, webhookId, range, status, total, queued, createdAtMs, createdBy, endedAtMs } = replay;
  const { sinceMs, untilMs, state, failedOnly } = range;
  return {
    id,
    webhook: webhookId,
    status,
    since: toUnixSeconds(sinceMs),
    until: toUnixSeconds(untilMs) - 1,
    ...(state === null ? {} : { state }),
    failedOnly,
    total,
    queued,
    createdAt: toUnixSeconds(createdAtMs),
    createdBy,
    ...(endedAtMs === null ? {} : { endedAt: toUnixSeconds(endedAtMs) }),
  };
}
