import { createRoute, z } from '@hono/zod-openapi';
import { isAttachable, type Policies } from '../../policies/policies.ts';
import type { Policy, PolicyKind } from '../../policies/policy.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { entityTag, policyVersion, requireMatch } from '../entity-tag.ts';
import { decodeCursor, pageOf, pageQuery, visiblePage, wholeListQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { policyChangeInput } from './policy-input.ts';
import { policyObject, policySchema, versionObject, versionSchema } from './policy-object.ts';
import {
  ifMatchHeader,
  ifNoneMatchHeader,
  json,
  jsonBody,
  needsPolicyAdmin,
  needsPolicyReader,
  notModified,
  policyParams,
  policyPath,
  problems,
  refuses,
  tagged,
} from './route-parts.ts';
import { stackRoles } from './stack-roles.ts';

const tags = ['policies'];

const showRoute = createRoute({
  method: 'get',
  path: policyPath,
  operationId: 'getPolicy',
  tags,
  summary: 'One policy',
  ...needsPolicyReader,
  request: { params: policyParams, headers: ifNoneMatchHeader },
  responses: { 200: tagged(policySchema, 'The policy.'), ...notModified, ...problems },
});

const updateRoute = createRoute({
  method: 'put',
  path: policyPath,
  operationId: 'updatePolicy',
  tags,
  summary: 'Change a policy; another body is compiled first and becomes the next version',
  ...needsPolicyAdmin,
  ...refuses('policy-invalid', 'policy-name-taken', 'policy-not-attachable', 'policy-engine-unavailable'),
  request: { params: policyParams, headers: ifMatchHeader, ...jsonBody(policyChangeInput) },
  responses: { 200: tagged(policySchema, 'The policy as it is now.'), ...problems },
});

const removeRoute = createRoute({
  method: 'delete',
  path: policyPath,
  operationId: 'deletePolicy',
  tags,
  summary: 'Delete a policy with its versions and samples; what it decided stays known',
  ...needsPolicyAdmin,
  request: { params: policyParams, headers: ifMatchHeader },
  responses: { 204: { description: 'Deleted.' }, ...problems },
});

const versionsRoute = createRoute({
  method: 'get',
  path: `${policyPath}/versions`,
  operationId: 'listPolicyVersions',
  tags,
  summary: 'Every body that a policy had, newest first',
  ...needsPolicyReader,
  request: { params: policyParams, query: wholeListQuery },
  responses: { 200: json(pageOf(versionSchema), 'All of them.'), ...problems },
});

export const judgedStackSchema = z
  .object({
    account: z.string(),
    id: z.string(),
    by: z.enum(['attachment', 'label']).openapi({ description: '`label`: by its labels alone.' }),
  })
  .openapi('JudgedStack', { example: { account: 'acme', id: 'network-prod', by: 'label' } });

const stacksRoute = createRoute({
  method: 'get',
  path: `${policyPath}/stacks`,
  operationId: 'listPolicyStacks',
  tags,
  summary: 'Stacks that a policy judges, as far as you may read them',
  ...needsPolicyReader,
  request: { params: policyParams, query: pageQuery },
  responses: { 200: json(pageOf(judgedStackSchema), 'A page of stacks.'), ...problems },
});

export function policyRoutes(parts: {
  readonly policies: Policies;
  readonly policyGuard: PolicyGuard;
  readonly guard: Guard;
  readonly stackStore: Pick<StackStore, 'findAll'>;
}): Api {
  const { policies, policyGuard, guard, stackStore } = parts;
  const api = newApi();

  api.openapi(showRoute, async (c) => {
    const policy = await policyGuard.readable(c.var.actor, c.req.valid('param').policy);
    c.header('etag', tagOf(policy));
    return c.json(policyObject(policy), 200);
  });

  api.openapi(updateRoute, async (c) => {
    const { id, kind: own } = await policyGuard.managed(c.var.actor, c.req.valid('param').policy);
    const { kind = own, name, description, labels, body, regoVersion } = c.req.valid('json');
    requireSameKind(kind, own);
    const change = {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(labels && { labels }),
      ...(body !== undefined && { body }),
      ...(regoVersion !== undefined && { regoVersion }),
    };
    const ifMatch = c.req.valid('header')['if-match'];
    const saved = await policies.update(id, change, c.var.actor, (now) =>
      requireMatch(ifMatch, policyVersion(now)),
    );
    if (!saved) throw notFound();
    c.header('etag', tagOf(saved.policy));
    return c.json(policyObject(saved.policy, saved.hints), 200);
  });

  api.openapi(removeRoute, async (c) => {
    const { id } = await policyGuard.managed(c.var.actor, c.req.valid('param').policy);
    const ifMatch = c.req.valid('header')['if-match'];
    const isRemoved = await policies.remove(id, c.var.actor, (now) =>
      requireMatch(ifMatch, policyVersion(now)),
    );
    if (!isRemoved) throw notFound();
    return c.body(null, 204);
  });

  api.openapi(versionsRoute, async (c) => {
    const { id } = await policyGuard.readable(c.var.actor, c.req.valid('param').policy);
    const items = (await policies.versions(id)).map(versionObject);
    return c.json({ items, nextCursor: null }, 200);
  });

  api.openapi(stacksRoute, async (c) => {
    const policy = await policyGuard.readable(c.var.actor, c.req.valid('param').policy);
    const { limit, cursor } = c.req.valid('query');
    const roles = stackRoles(guard, c.var.actor);
    const keys = isAttachable(policy.kind) ? await policies.stacksOf(policy.id) : [];
    const attached = new Set(await policies.attachedTo(policy.id));
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, /^\S{1,100}$/),
      read: async (after, count) => {
        const some = keys.filter((key) => after === null || key > after).slice(0, count);
        return (await stackStore.findAll(some)).toSorted((one, other) => (one.key < other.key ? -1 : 1));
      },
      positionOf: ({ key }) => key,
      show: async (stack, following) => {
        if ((await roles.roleOn(stack, following)) === null) return null;
        const by = attached.has(stack.key) ? ('attachment' as const) : ('label' as const);
        return { account: stack.account, id: stack.id, by };
      },
      isSpent: roles.isSpent,
    });
    return c.json(page, 200);
  });

  return api;
}

const tagOf = (policy: Policy): string => entityTag(policyVersion(policy), policyObject(policy));

function requireSameKind(kind: PolicyKind, own: PolicyKind): void {
  if (kind === own) return;
  const message = `it is a ${own} policy; make another one of kind ${kind}`;
  throw new UserError('invalid-input', `kind: ${message}`, { issues: [{ path: 'kind', message }] });
}
