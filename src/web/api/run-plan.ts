import { createRoute, z } from '@hono/zod-openapi';
import { type Actor, actorKey } from '../../access/actor.ts';
import { toUnixSeconds } from '../../clock.ts';
import { type ChangeOp, changeOps } from '../../runs/plan/plan-changes.ts';
import { type PlacedChange, placedChanges } from '../../runs/plan/plan-tree.ts';
import type { SeenPlans } from '../../runs/plan/seen-plans.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, encodeCursor, pageQuery } from '../page.ts';
import { exampleTime, resourceChangeExample } from './examples.ts';
import type { Guard } from './guard.ts';
import { changeOp, resourceChangeObject, resourceChangeSchema } from './plan-object.ts';
import { json, needs, problems, refuses, runParams, runPath } from './route-parts.ts';

const tags = ['runs'];

export const planSchema = z
  .object({
    hasChanges: z.boolean().nullable().openapi({ description: 'Null while nothing was planned.' }),
    counts: z
      .object(
        Object.fromEntries(changeOps.map((op) => [op, z.number().int()])) as Record<ChangeOp, z.ZodNumber>,
      )
      .openapi({ description: 'Of the whole plan.' }),
    found: z.number().int().openapi({ description: 'How many changes are what was asked for.' }),
    items: z.array(resourceChangeSchema),
    nextCursor: z.string().nullable(),
  })
  .openapi('Plan', {
    example: {
      hasChanges: true,
      counts: { create: 0, update: 1, replace: 0, delete: 0, move: 0, outputs: 0 },
      found: 1,
      items: [resourceChangeExample],
      nextCursor: null,
    },
  });

const planRoute = createRoute({
  method: 'get',
  path: `${runPath}/plan`,
  operationId: 'getRunPlan',
  tags,
  summary: 'What a run would change, resource by resource, in the order of their tree',
  ...needs('reader'),
  request: {
    params: runParams,
    query: pageQuery.extend({
      op: changeOp.optional(),
      text: z.string().max(500).optional().openapi({ description: 'Part of a name, type or URN.' }),
    }),
  },
  responses: { 200: json(planSchema, 'A page of changes.'), ...problems },
});

export const sinceSeenSchema = z
  .object({
    seenAt: z.number().int().nullable().openapi({
      description: 'When the caller looked at this very plan last.',
    }),
    since: z
      .object({
        run: z.string(),
        commit: z.string(),
        seenAt: z.number().int(),
        added: z.array(z.string()),
        gone: z.array(z.string()),
        different: z.array(z.string()),
      })
      .nullable()
      .openapi({
        description:
          'The plan of an earlier run of the stack that the caller looked at last, and how this one differs, by URN. Secrets all look alike.',
      }),
  })
  .openapi('SinceSeen', { example: { seenAt: exampleTime, since: null } });

const personOnly = {
  ...needs('reader'),
  description: 'Needs the role reader on the stack; for people only, who log in to the UI.',
};

const sinceRoute = createRoute({
  method: 'get',
  path: `${runPath}/changes-since-seen`,
  operationId: 'getChangesSinceSeen',
  tags,
  summary: 'How a plan differs from the one that the caller looked at before',
  ...personOnly,
  ...refuses('forbidden'),
  request: { params: runParams },
  responses: { 200: json(sinceSeenSchema, 'What is new.'), ...problems },
});

const seenRoute = createRoute({
  method: 'put',
  path: `${runPath}/seen`,
  operationId: 'markPlanSeen',
  tags,
  summary: 'The caller has looked at the plan',
  // Pages send it by themselves, and nobody else is shown anything by it.
  'x-audited': false,
  ...personOnly,
  request: { params: runParams },
  responses: { 204: { description: 'Noted.' }, ...problems },
});

export function runPlanRoutes(parts: { guard: Guard; runs: RunStore; seenPlans: SeenPlans }): Api {
  const { guard, runs, seenPlans } = parts;
  const api = newApi();
  /** By the steps of plans that are held in memory anyway. */
  const placed = new WeakMap<readonly unknown[], readonly PlacedChange[]>();

  function placedOf(steps: readonly unknown[]): readonly PlacedChange[] {
    const changes = placed.get(steps) ?? placedChanges(steps);
    placed.set(steps, changes);
    return changes;
  }

  api.openapi(planRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const { limit, cursor, op, text } = c.req.valid('query');
    const start = Number(decodeCursor(cursor, /^\d{1,9}$/) ?? 0);
    const plan = await runs.plan(run.id);
    const all = placedOf(plan?.steps ?? []);
    const found = all.filter((change) => (op === undefined || change.op === op) && holds(change, text));
    const marks = new Map((plan?.marks ?? []).map((mark) => [mark.urn, mark]));
    const end = start + limit;
    const answer = {
      hasChanges: plan?.hasChanges ?? null,
      counts: countsOf(all),
      found: found.length,
      items: found.slice(start, end).map((change) => resourceChangeObject(change, marks.get(change.urn))),
      nextCursor: end < found.length ? encodeCursor(String(end)) : null,
    };
    return c.json(answer, 200);
  });

  api.openapi(sinceRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const { seenAtMs, since } = await seenPlans.sinceSeen(personOf(c.var.actor), run);
    const seenAt = seenAtMs === null ? null : toUnixSeconds(seenAtMs);
    if (!since) return c.json({ seenAt, since: null }, 200);
    const { added, gone, different } = since.comparison;
    const before = {
      ...{ run: since.run.id, commit: since.run.commit.hash, seenAt: toUnixSeconds(since.seenAtMs) },
      ...{ added: [...added], gone: [...gone], different: [...different] },
    };
    return c.json({ seenAt, since: before }, 200);
  });

  api.openapi(seenRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    await seenPlans.see(personOf(c.var.actor), run);
    return c.body(null, 204);
  });

  return api;
}

function personOf(actor: Actor): string {
  if (actor.kind !== 'person') throw new UserError('forbidden', 'Only people look at plans.');
  return actorKey(actor);
}

function holds({ urn, type, name }: PlacedChange, text = ''): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return true;
  return [name, type, urn].some((each) => each.toLowerCase().includes(wanted));
}

function countsOf(changes: readonly PlacedChange[]): Record<ChangeOp, number> {
  const counts = { create: 0, update: 0, replace: 0, delete: 0, move: 0, outputs: 0 };
  for (const { op } of changes) counts[op] += 1;
  return counts;
}
