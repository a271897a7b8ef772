import { createRoute, z } from '@hono/zod-openapi';
import { actorKey, actorName, roles } from '../../access/actor.ts';
import { toUnixSeconds } from '../../clock.ts';
import { type Review, reviewedStates, type Verdict } from '../../runs/approvals/review.ts';
import type { Reviewing } from '../../runs/approvals/reviewing.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import type { Guard } from './guard.ts';
import { json, needs, optionalJsonBody, problems, refuses, runParams, runPath } from './route-parts.ts';
import { commandInput, doneOrConflict } from './run-commands.ts';
import { runObject, runSchema, type Waiting } from './run-object.ts';

export const reviewSchema = z
  .object({
    verdict: z.enum(['approve', 'reject']),
    reviewer: z.string().openapi({ description: 'Login of a person, or the name of a token.' }),
    role: z.enum(roles).openapi({ description: 'Of the reviewer on the stack, then.' }),
    via: z.enum(['api', 'comment', 'check']),
    state: z.enum(reviewedStates),
    stateVersion: z.number().int(),
    note: z.string().optional(),
    timestamp: z.number().int(),
    carriedFrom: z.string().optional().openapi({
      description:
        'The earlier run of the stack that it was given on: the changes are the same, so it counts here.',
    }),
  })
  .openapi('Review', {
    example: {
      ...{ verdict: 'approve', reviewer: 'grace', role: 'writer', via: 'api' },
      ...{
        state: 'UNCONFIRMED',
        stateVersion: 6,
        note: 'looked at every deletion',
        timestamp: 1_795_000_100,
      },
    },
  });

const reviewRoute = (verdict: Verdict, summary: string, note: string) =>
  createRoute({
    method: 'post',
    path: `${runPath}/${verdict}` as const,
    operationId: `${verdict}Run`,
    tags: ['runs'],
    summary,
    ...needs('writer'),
    ...refuses('state-conflict', 'no-approval-policies'),
    request: { params: runParams, ...optionalJsonBody(commandInput, { stateVersion: 6, note }) },
    responses: {
      200: json(runSchema, 'The run as it is now. Policies judge by the review soon after.'),
      ...problems,
    },
  });

const approveRoute = reviewRoute(
  'approve',
  'Approve a run that waits for approval policies',
  'looked at every deletion',
);
const rejectRoute = reviewRoute(
  'reject',
  'Reject a run that waits for approval policies',
  'not before the freeze ends',
);

const reviewsRoute = createRoute({
  method: 'get',
  path: `${runPath}/reviews`,
  operationId: 'listRunReviews',
  tags: ['runs'],
  summary:
    'What people said to a run that waits for approval policies, oldest first; before it what counts of earlier runs',
  ...needs('reader'),
  request: { params: runParams, query: wholeListQuery },
  responses: { 200: json(pageOf(reviewSchema), 'All of them.'), ...problems },
});

export interface RunReviewRouteParts extends Waiting {
  readonly guard: Guard;
  readonly reviewing: Reviewing;
}

export function runReviewRoutes(parts: RunReviewRouteParts): Api {
  const { guard, reviewing } = parts;
  const api = newApi();

  const routes = { approve: approveRoute, reject: rejectRoute } as const;
  for (const [verdict, route] of Object.entries(routes) as [Verdict, typeof approveRoute][]) {
    api.openapi(route, async (c) => {
      const { actor } = c.var;
      const { run, stack } = await guard.run(actor, c.req.valid('param').run, 'writer');
      const reviewer = { key: actorKey(actor), name: actorName(actor) };
      const role = (await guard.roleOn(actor, stack)) ?? 'writer';
      const request = { verdict, reviewer, role, via: 'api', ...c.req.valid('json') } as const;
      const result = await reviewing.review(run.id, request);
      return c.json(await runObject(doneOrConflict(result), stack, parts), 200);
    });
  }

  api.openapi(reviewsRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const [carried, own] = [await reviewing.carriedTo(run), await reviewing.ofRun(run.id)];
    const items = [
      ...carried.map((review) => ({ ...reviewObject(review), carriedFrom: review.runId })),
      ...own.map(reviewObject),
    ];
    return c.json({ items, nextCursor: null }, 200);
  });

  return api;
}

function reviewObject({ verdict, reviewer, role, via, state, stateVersion, note, atMs }: Review) {
  return {
    ...{ verdict, reviewer: reviewer.name, role, via, state, stateVersion },
    ...(note === null ? {} : { note }),
    timestamp: toUnixSeconds(atMs),
  };
}
