import { createRoute } from '@hono/zod-openapi';
import type { RecordedDecision } from '../../policies/judgement.ts';
import type { DecisionStore } from '../../policies/policy-store.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage, wholeListQuery } from '../page.ts';
import type { Guard } from './guard.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { decisionObject, decisionSchema } from './policy-object.ts';
import {
  json,
  needs,
  needsPolicyAdmin,
  policyParams,
  policyPath,
  problems,
  runParams,
  runPath,
} from './route-parts.ts';

const tags = ['policies'];

const ofPolicyRoute = createRoute({
  method: 'get',
  path: `${policyPath}/decisions`,
  operationId: 'listPolicyDecisions',
  tags,
  summary: 'What a policy said, newest first',
  ...needsPolicyAdmin,
  request: { params: policyParams, query: pageQuery },
  responses: { 200: json(pageOf(decisionSchema), 'A page of decisions.'), ...problems },
});

const ofRunRoute = createRoute({
  method: 'get',
  path: `${runPath}/policies`,
  operationId: 'listRunPolicies',
  tags,
  summary: 'What policies said of a run, oldest first',
  ...needs('reader'),
  request: { params: runParams, query: wholeListQuery },
  responses: { 200: json(pageOf(decisionSchema), 'All of it.'), ...problems },
});

/** Inputs are told to nobody here: policy-samples.ts. */
export function policyDecisionRoutes(parts: {
  readonly decisions: DecisionStore;
  readonly policyGuard: PolicyGuard;
  readonly guard: Guard;
  readonly stackStore: Pick<StackStore, 'findAll'>;
}): Api {
  const { decisions, policyGuard, guard, stackStore } = parts;
  const api = newApi();

  /** With the stack, as far as it is there. */
  async function withStacks(found: readonly RecordedDecision[]) {
    const keys = [...new Set(found.flatMap(({ stackKey }) => stackKey ?? []))];
    const stacks = new Map((await stackStore.findAll(keys)).map((stack) => [stack.key, stack]));
    return found.map((decision) => ({ decision, stack: stacks.get(decision.stackKey ?? '') ?? null }));
  }

  api.openapi(ofPolicyRoute, async (c) => {
    const { id } = await policyGuard.managed(c.var.actor, c.req.valid('param').policy);
    const { limit, cursor } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: async (before, count) => withStacks(await decisions.list({ policyId: id, before, limit: count })),
      positionOf: ({ decision }) => decision.id,
      show: async ({ decision, stack }) => decisionObject(decision, stack),
    });
    return c.json(page, 200);
  });

  api.openapi(ofRunRoute, async (c) => {
    const { run, stack } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const items = (await decisions.ofRun(run.id)).map((decision) => decisionObject(decision, stack));
    return c.json({ items, nextCursor: null }, 200);
  });

  return api;
}
