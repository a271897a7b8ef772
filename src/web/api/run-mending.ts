import { createRoute, z } from '@hono/zod-openapi';
import { type Actor, actorKey } from '../../access/actor.ts';
import { readBlocker } from '../../runs/blocker.ts';
import { runVerbs } from '../../runs/explaining/verbs.ts';
import { explain } from '../../runs/explanation.ts';
import type { Mending, MendStanding } from '../../runs/mending.ts';
import type { Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import type { Stack } from '../../stacks/stack.ts';
import { type Api, newApi } from '../api.ts';
import { explanationExample } from './examples.ts';
import type { Guard } from './guard.ts';
import { idempotencyHeader, json, needs, problems, refuses, runParams, runPath } from './route-parts.ts';
import { runObject, runSchema, runState, troubleObject, troubleSchema, type Waiting } from './run-object.ts';

export interface RunMendingRouteParts extends Waiting {
  readonly guard: Guard;
  readonly runs: RunStore;
  readonly mending: Mending;
}

const step = z.object({
  text: z.string(),
  command: z.string().optional().openapi({ description: 'Of the command line.' }),
  action: z
    .enum([...runVerbs, 'mend', 'override', 'unlock'])
    .optional()
    .openapi({ description: 'The part of the API that does it.' }),
});

const mend = z
  .object({
    standing: z.enum(['possible', 'locked', 'under-way', 'past', 'preview', 'unknown']).openapi({
      description:
        '`locked`: unlock the stack first; `under-way`: another run is; `past`: a newer run says how the state is; ' +
        '`preview`: previews are not mended; `unknown`: the tool has no command for it.',
    }),
    command: z.string().optional().openapi({ description: 'What the task would run.' }),
    run: z.string().optional().openapi({ description: 'The run that is under way, or newer.' }),
  })
  .openapi({ description: 'Whether the trouble can be mended now.' });

export const explanationSchema = z
  .object({
    run: z.string(),
    state: runState,
    stateVersion: z.number().int(),
    happened: z.string(),
    note: z.string().optional(),
    next: z.array(step).openapi({ description: 'In the order in which people do it.' }),
    trouble: troubleSchema.optional(),
    mend: mend.optional(),
  })
  .openapi('RunExplanation', { example: explanationExample });

const explanationRoute = createRoute({
  method: 'get',
  path: `${runPath}/explanation`,
  operationId: 'explainRun',
  tags: ['runs'],
  summary: 'What happened to a run and what to do next',
  ...needs('reader'),
  request: { params: runParams },
  responses: { 200: json(explanationSchema, 'As of now.'), ...problems },
});

const mendRoute = createRoute({
  method: 'post',
  path: `${runPath}/mend`,
  operationId: 'mendRun',
  tags: ['runs'],
  summary: 'Start the task that mends the state which a run found locked or half done',
  ...needs('admin'),
  ...refuses('nothing-to-mend', 'locked', 'commit-not-tracked', 'repository-away'),
  request: { params: runParams, headers: idempotencyHeader },
  responses: {
    201: {
      ...json(runSchema, 'The TASK run, of the same commit.'),
      headers: z.object({ location: z.string() }),
    },
    ...problems,
  },
});

export function runMendingRoutes(parts: RunMendingRouteParts): Api {
  const { guard, mending } = parts;
  const api = newApi();

  api.openapi(explanationRoute, async (c) => {
    const { actor } = c.var;
    const { run, stack } = await guard.run(actor, c.req.valid('param').run, 'reader');
    return c.json(await explanationObject(parts, run, stack, actor), 200);
  });

  api.openapi(mendRoute, async (c) => {
    const { actor } = c.var;
    const { run, stack } = await guard.run(actor, c.req.valid('param').run, 'admin');
    const task = await mending.start(run.id, actor);
    c.header('location', `/api/v1/runs/${task.id}`);
    return c.json(await runObject(task, stack, parts), 201);
  });

  return api;
}

async function explanationObject(parts: RunMendingRouteParts, run: Run, stack: Stack, actor: Actor) {
  const [before, now] = (await parts.runs.events(run.id)).slice(-2);
  const mend = await parts.mending.standing(run, stack, actorKey(actor));
  const { account, id, lock } = stack;
  const { happened, next } = explain({
    run,
    stack: { account, id, lock, ...stack.settings },
    blocker: await readBlocker(parts, run, stack),
    trouble: run.trouble ?? null,
    mend,
    actor: (now ?? before)?.actor ?? 'server',
    cameFrom: now && before ? before.state : null,
  });
  return {
    ...{ run: run.id, state: run.state, stateVersion: run.stateVersion, happened, next: [...next] },
    ...(run.note === undefined ? {} : { note: run.note }),
    ...(run.trouble ? { trouble: troubleObject(run.trouble) } : {}),
    ...(mend ? { mend: { standing: mend.kind, ...mendParts(mend) } } : {}),
  };
}

const mendParts = (mend: MendStanding) => ({
  ...('command' in mend ? { command: mend.command } : {}),
  ...('run' in mend ? { run: mend.run } : {}),
});
