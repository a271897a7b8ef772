import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import type { SourceCheck } from '../../policies/check-source.ts';
import type { Policies } from '../../policies/policies.ts';
import type { Policy, PolicyKind } from '../../policies/policy.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { entityTag, policyVersion } from '../entity-tag.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import { onlyAccountOf } from './guard.ts';
import { policyExample } from './policy-examples.ts';
import { needsAccountAdmin, type PolicyGuard } from './policy-guard.ts';
import { newPolicyInput, sourceInput } from './policy-input.ts';
import { kindSchema, policyObject, policySchema } from './policy-object.ts';
import {
  idempotencyHeader,
  json,
  jsonBody,
  needs,
  needsPolicyAdmin,
  problems,
  refuses,
  tagged,
} from './route-parts.ts';

const path = '/api/v1/policies';
const tags = ['policies'];

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listPolicies',
  tags,
  summary: 'Policies that you manage, and those that judge a stack which you may read',
  ...needs('any'),
  request: {
    query: pageQuery.extend({
      account: z.string().min(1).max(200).optional().openapi({ description: 'Of this account only.' }),
      kind: kindSchema.optional(),
    }),
  },
  responses: { 200: json(pageOf(policySchema), 'A page of policies, oldest first.'), ...problems },
});

const createPolicyRoute = createRoute({
  method: 'post',
  path,
  operationId: 'createPolicy',
  tags,
  summary: 'Make a policy; it is compiled first',
  ...needsPolicyAdmin,
  ...refuses(
    ...(['not-found', 'policy-invalid', 'policy-name-taken'] as const),
    ...(['policy-not-attachable', 'policy-engine-unavailable'] as const),
  ),
  request: { headers: idempotencyHeader, ...jsonBody(newPolicyInput) },
  responses: {
    201: {
      ...tagged(policySchema, 'The policy.'),
      headers: z.object({ location: z.string(), etag: z.string() }),
    },
    ...problems,
  },
});

const checkRoute = createRoute({
  method: 'post',
  path: `${path}/check`,
  operationId: 'checkPolicy',
  tags,
  summary: 'Whether a source could be saved; nothing is',
  ...needsPolicyAdmin,
  ...refuses('policy-invalid', 'policy-engine-unavailable'),
  'x-audited': false,
  request: {
    ...jsonBody(
      sourceInput
        .extend({ kind: kindSchema })
        .openapi('PolicyCheck', { example: { kind: 'PLAN', body: policyExample.body } }),
    ),
  },
  responses: {
    200: json(
      z
        .object({ rules: z.array(z.string()), hints: z.array(z.string()) })
        .openapi({ example: { rules: ['deny'], hints: [] } }),
      'It could.',
    ),
    ...problems,
  },
});

/** One policy by its id is in policy.ts. */
export function policiesRoutes(parts: {
  readonly policies: Policies;
  readonly policyGuard: PolicyGuard;
  readonly sourceCheck: SourceCheck;
  readonly repositories: Pick<RepositoryStore, 'listAccounts'>;
}): Api {
  const { policies, policyGuard, sourceCheck, repositories } = parts;
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const { actor } = c.var;
    const { limit, cursor, account, kind } = c.req.valid('query');
    const [own, wanted] = [onlyAccountOf(actor)?.toLowerCase(), account?.toLowerCase()];
    if (own !== undefined && wanted !== undefined && own !== wanted) {
      return c.json({ items: [], nextCursor: null }, 200);
    }
    const filter = { account: wanted ?? own ?? null, ...(kind && { kind }) };
    const reader = policyGuard.reader(actor);
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (after, count) => policies.list({ ...filter, after, limit: count }),
      positionOf: ({ id }) => id,
      show: async (policy) => ((await reader.reads(policy)) ? policyObject(policy) : null),
      isSpent: reader.isSpent,
    });
    return c.json(page, 200);
  });

  api.openapi(createPolicyRoute, async (c) => {
    const { actor } = c.var;
    const { account: login, ...input } = c.req.valid('json');
    const account = await accountOf(actor, input.kind, login);
    const { policy, hints } = await policies.create({ ...input, account }, actor);
    const shown = policyObject(policy, hints);
    c.header('location', `${path}/${policy.id}`);
    c.header('etag', entityTag(policyVersion(policy), policyObject(policy)));
    return c.json(shown, 201);
  });

  api.openapi(checkRoute, async (c) => {
    if (!policyGuard.managesSome(c.var.actor)) throw needsAccountAdmin();
    const { kind, ...source } = c.req.valid('json');
    const { rules, hints } = await sourceCheck(kind, source);
    return c.json({ rules: [...rules], hints: [...hints] }, 200);
  });

  return api;

  /** That of a token, or the only one there is, unless it is said. */
  async function accountOf(
    actor: Actor,
    kind: PolicyKind,
    given: string | null | undefined,
  ): Promise<Policy['account']> {
    if (kind === 'LOGIN') {
      if (!policyGuard.manages(actor, kind, null)) throw needsAccountAdmin();
      if (typeof given === 'string')
        throw wrongAccount('a LOGIN policy is of the whole server: leave it out');
      return null;
    }
    const login = given ?? onlyAccountOf(actor);
    // Whoever may not manage it hears nothing of it, not even whether it is there.
    if (!policyGuard.manages(actor, kind, login)) throw needsAccountAdmin();
    const [found, another] = await repositories.listAccounts({ login, after: 0, limit: 2 });
    if (found && !another) return { id: found.id, login: found.login };
    throw wrongAccount(found ? 'say in which account' : 'the App is installed in no such account');
  }
}

function wrongAccount(message: string): UserError {
  return new UserError('invalid-input', `account: ${message}`, { issues: [{ path: 'account', message }] });
}
