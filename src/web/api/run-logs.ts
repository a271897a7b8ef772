import { createRoute, z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { actorKey } from '../../access/actor.ts';
import type { LogStore } from '../../runs/log-store.ts';
import type { Run } from '../../runs/run.ts';
import { phases, type RunStore } from '../../runs/run-store.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf } from '../page.ts';
import { type EventStreams, streamResponse } from './event-streams.ts';
import type { Guard } from './guard.ts';
import { createLineCounts } from './line-counts.ts';
import { logEnd } from './log-end.ts';
import { decodePosition, logEvents } from './log-events.ts';
import { json, needs, problems, refuses, runParams, runPath } from './route-parts.ts';
import { logSizes, logText } from './run-log.ts';

export interface RunLogRouteParts {
  readonly guard: Guard;
  readonly runs: Pick<RunStore, 'find'>;
  readonly logs: LogStore;
  readonly streams: EventStreams;
}

const tags = ['runs'];
const phase = z.enum(phases).optional().openapi({ description: 'Without it: all phases, in order.' });

const logsRoute = createRoute({
  method: 'get',
  path: `${runPath}/logs`,
  operationId: 'getRunLog',
  tags,
  summary: 'Output of a run',
  ...needs('reader'),
  ...refuses('log-removed'),
  request: {
    params: runParams,
    query: z.object({
      phase,
      offset: z.coerce
        .number()
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .default(0)
        .openapi({ description: 'In bytes: `X-Next-Offset` of the answer before.' }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .openapi({ description: 'In bytes; without it, all.' }),
    }),
  },
  responses: {
    200: {
      description: 'What there is now, from the offset on.',
      headers: z.object({ 'x-next-offset': z.string() }),
      content: {
        'text/plain': { schema: z.string(), example: '> pulumi preview\n+ aws:s3:BucketV2 logs create\n' },
      },
    },
    ...problems,
  },
});

export const phaseEndSchema = z
  .object({
    phase: z.enum(phases),
    size: z.number().int().openapi({ description: 'Of the phase, in bytes.' }),
    offset: z.number().int().openapi({ description: 'Where `text` begins, in bytes.' }),
    line: z.number().int().openapi({ description: 'Number of the line that begins there, from 1.' }),
    text: z.string(),
  })
  .openapi({
    example: { phase: 'planning', size: 812, offset: 790, line: 14, text: '+ 1 to create\n' },
  });

const endRoute = createRoute({
  method: 'get',
  path: `${runPath}/logs/end`,
  operationId: 'getRunLogEnd',
  tags,
  summary: 'The end of the output of a run, from a whole line on',
  ...needs('reader'),
  ...refuses('log-removed'),
  request: {
    params: runParams,
    query: z.object({
      maxBytes: z.coerce.number().int().min(1).max(1_048_576).default(65_536),
    }),
  },
  responses: {
    200: json(
      pageOf(phaseEndSchema),
      'Each phase that has output; those before the end with an empty `text`.',
    ),
    ...problems,
  },
});

const streamRoute = createRoute({
  method: 'get',
  path: `${runPath}/logs/stream`,
  operationId: 'streamRunLog',
  tags,
  summary: 'Output of a run as it is written, as server-sent events `log` and, last, `end`',
  ...needs('reader'),
  ...refuses('log-removed', 'too-many-streams'),
  request: {
    params: runParams,
    query: z.object({
      phase,
      after: z.string().optional().openapi({
        description: 'Begins after that event; `Last-Event-ID` goes before it.',
      }),
    }),
    headers: z.object({
      'last-event-id': z.string().optional().openapi({ description: 'Goes on after that event.' }),
    }),
  },
  responses: {
    200: {
      description: '`data` of a `log` event: {phase, offset, text}; of `end`: {state}.',
      content: {
        'text/event-stream': {
          schema: z.string(),
          example:
            'id: 0.0.17\nevent: log\ndata: {"phase":"planning","offset":0,"text":"> pulumi preview\\n"}\n\n',
        },
      },
    },
    ...problems,
  },
});

export function runLogRoutes({ guard, runs, logs, streams }: RunLogRouteParts): Api {
  const api = newApi();
  const lines = createLineCounts(logs);

  api.openapi(logsRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    refuseRemoved(run);
    const query = c.req.valid('query');
    const wanted = query.phase === undefined ? phases : [query.phase];
    const sizes = await logSizes(logs, run.id, wanted);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const end = Math.min(total, query.offset + (query.limit ?? total));
    const name = [run.id, query.phase, 'log'].filter((part) => part !== undefined).join('.');
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `inline; filename="${name}"`,
      'x-next-offset': String(Math.max(end, Math.min(total, query.offset))),
    };
    const body = logText(logs, run.id, wanted, sizes, { from: query.offset, to: end });
    // Streamed, as the output of a run may be large; the router's types know text only as a string.
    return new Response(body, { headers }) as Response & TypedResponse<string, 200, 'text'>;
  });

  api.openapi(endRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    refuseRemoved(run);
    const items = await logEnd({ logs, lines }, run.id, c.req.valid('query').maxBytes);
    return c.json({ items: [...items], nextCursor: null }, 200);
  });

  api.openapi(streamRoute, async (c) => {
    const { actor, isStillKnown } = c.var;
    const { run } = await guard.run(actor, c.req.valid('param').run, 'reader');
    refuseRemoved(run);
    const { phase, after } = c.req.valid('query');
    const position = decodePosition(c.req.valid('header')['last-event-id'] ?? after);
    if (position === null) throw new UserError('invalid-input', 'Last-Event-ID: not an id of this stream');
    const source = {
      runId: run.id,
      phase: phase ?? null,
      position,
      state: async () => (await runs.find(run.id))?.state ?? null,
    };
    return streamResponse(c.req.method, streams, {
      next: logEvents(logs, source),
      reader: actorKey(actor),
      isAllowed: async () => (await isStillKnown()) && guard.reads(actor, run.id),
    });
  });

  return api;
}

/** Not the same as a log that is empty. */
function refuseRemoved({ logRemoved }: Run): void {
  if (!logRemoved) return;
  throw new UserError('log-removed', 'The log of this run was removed for its age.', {
    hint: 'RETENTION_LOGS_DAYS of the server says for how long logs are kept.',
  });
}
