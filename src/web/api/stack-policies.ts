import { createRoute, z } from '@hono/zod-openapi';
import { isAttachable, type Policies } from '../../policies/policies.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage, wholeListQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import { policyExample } from './policy-examples.ts';
import { policyObject, policySchema } from './policy-object.ts';
import { json, needs, policyParams, problems, refuses, stackParams, stackPath } from './route-parts.ts';

const path = `${stackPath}/policies`;
const tags = ['policies'];

export const attachedSchema = policySchema
  .extend({
    by: z.enum(['attachment', 'label']).openapi({ description: '`label`: by its labels alone.' }),
  })
  .openapi('AttachedPolicy', { example: { ...policyExample, by: 'label' } });

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listStackPolicies',
  tags,
  summary: 'Policies that judge a stack, by kind and name',
  ...needs('reader'),
  request: { params: stackParams, query: wholeListQuery },
  responses: { 200: json(pageOf(attachedSchema), 'All of them.'), ...problems },
});

const attachableRoute = createRoute({
  method: 'get',
  path: `${stackPath}/attachable-policies`,
  operationId: 'listAttachablePolicies',
  tags,
  summary: 'Policies of the account that can be attached to the stack',
  ...needs('admin'),
  request: { params: stackParams, query: pageQuery },
  responses: { 200: json(pageOf(policySchema), 'A page of policies, oldest first.'), ...problems },
});

const params = stackParams.extend(policyParams.shape);

const attachRoute = createRoute({
  method: 'put',
  path: `${path}/{policy}`,
  operationId: 'attachPolicy',
  tags,
  summary: 'Have a policy of the account judge the stack',
  ...needs('admin'),
  ...refuses('policy-not-attachable'),
  request: { params },
  responses: { 204: { description: 'It judges the stack from now on.' }, ...problems },
});

const detachRoute = createRoute({
  method: 'delete',
  path: `${path}/{policy}`,
  operationId: 'detachPolicy',
  tags,
  summary: 'Have a policy no longer judge the stack',
  ...needs('admin'),
  ...refuses('policy-attached-by-label'),
  request: { params },
  responses: { 204: { description: 'Detached.' }, ...problems },
});

export function stackPolicyRoutes({ guard, policies }: { guard: Guard; policies: Policies }): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'reader');
    const items = (await policies.ofStack(stack)).map(({ policy, by }) => ({ ...policyObject(policy), by }));
    return c.json({ items, nextCursor: null }, 200);
  });

  api.openapi(attachableRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'admin');
    const { limit, cursor } = c.req.valid('query');
    const account = stack.account.toLowerCase();
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (after, count) => policies.list({ account, after, limit: count }),
      positionOf: ({ id }) => id,
      show: async (policy) => (isAttachable(policy.kind) ? policyObject(policy) : null),
    });
    return c.json(page, 200);
  });

  api.openapi(attachRoute, async (c) => {
    const { policy, ...place } = c.req.valid('param');
    const stack = await guard.stack(c.var.actor, place, 'admin');
    await policies.attach(policy, stack.key);
    return c.body(null, 204);
  });

  api.openapi(detachRoute, async (c) => {
    const { policy, ...place } = c.req.valid('param');
    const stack = await guard.stack(c.var.actor, place, 'admin');
    if (!(await policies.detach(policy, stack.key))) throw notFound();
    return c.body(null, 204);
  });

  return api;
}
