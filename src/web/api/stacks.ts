import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import type { Access } from '../../access/roles.ts';
import type { LogStore } from '../../runs/log-store.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { type NewStackInput, newStackInput, stackPatchInput } from '../../stacks/stack-input.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { PreparedStack, Stacks } from '../../stacks/stacks.ts';
import type { Transactions } from '../../tx.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { entityTag, requireMatch, stackVersion } from '../entity-tag.ts';
import { notFound } from '../problem.ts';
import { newStackExample } from './examples.ts';
import { type Guard, onlyAccountOf } from './guard.ts';
import {
  idempotencyHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  json,
  jsonBody,
  needs,
  notModified,
  problems,
  refuses,
  stackParams,
  stackPath,
  tagged,
} from './route-parts.ts';
import { stackObject, stackSchema } from './stack-object.ts';
import { removeStack } from './stack-removal.ts';
import { vendorSettings } from './vendor-settings-schema.ts';

export interface StackRouteParts {
  readonly guard: Guard;
  readonly access: Access;
  readonly stacks: Stacks;
  readonly stackStore: StackStore;
  readonly runs: RunStore;
  readonly logs: LogStore;
  readonly transactions: Transactions;
}

const path = '/api/v1/stacks';
const newStackBody = newStackInput
  .extend({ vendor: vendorSettings })
  .openapi('NewStack', { example: newStackExample });
const stackPatchBody = stackPatchInput
  .extend({ vendor: vendorSettings.optional() })
  .openapi('StackPatch', { example: { autodeploy: true, labels: ['network', 'prod'] } });
const tags = ['stacks'];

const createStackRoute = createRoute({
  method: 'post',
  path,
  operationId: 'createStack',
  tags,
  summary: 'Create a stack',
  ...needs('admin'),
  ...refuses('not-found', 'stack-exists', 'repository-not-installed', 'login-url-not-allowed'),
  request: { headers: idempotencyHeader, ...jsonBody(newStackBody) },
  responses: {
    201: {
      ...json(stackSchema, 'The stack.'),
      headers: z.object({ location: z.string() }),
    },
    ...problems,
  },
});

const showRoute = createRoute({
  method: 'get',
  path: stackPath,
  operationId: 'getStack',
  tags,
  summary: 'One stack',
  ...needs('reader'),
  request: { params: stackParams, headers: ifNoneMatchHeader },
  responses: { 200: tagged(stackSchema, 'The stack.'), ...notModified, ...problems },
});

const updateRoute = createRoute({
  method: 'patch',
  path: stackPath,
  operationId: 'updateStack',
  tags,
  summary: 'Change settings of a stack',
  ...needs('admin'),
  ...refuses('managed-by-file', 'login-url-not-allowed', 'environment-name-refused'),
  request: { params: stackParams, headers: ifMatchHeader, ...jsonBody(stackPatchBody) },
  responses: { 200: tagged(stackSchema, 'The stack as it is now.'), ...problems },
});

const removeRoute = createRoute({
  method: 'delete',
  path: stackPath,
  operationId: 'deleteStack',
  tags,
  summary: 'Delete a stack with its runs, webhooks and environment',
  ...needs('admin'),
  ...refuses('stack-busy', 'managed-by-file'),
  request: { params: stackParams, headers: ifMatchHeader },
  responses: { 204: { description: 'Deleted.' }, ...problems },
});

export function stackRoutes(parts: StackRouteParts): Api {
  const { guard, access, stacks, runs } = parts;
  const api = newApi();

  /** To people a repository without the App looks like one that is none of their business: who may log in is anybody. */
  async function prepare(actor: Actor, input: NewStackInput): Promise<PreparedStack> {
    try {
      return await stacks.prepare(input);
    } catch (error) {
      const isNotInstalled = error instanceof UserError && error.code === 'repository-not-installed';
      throw isNotInstalled && guard.isAskedLive(actor) ? notFound() : error;
    }
  }

  api.openapi(createStackRoute, async (c) => {
    const input = c.req.valid('json');
    if (!mayKnow(c.var.actor, input.repository)) throw notFound();
    const prepared = await prepare(c.var.actor, input);
    const { account, repository } = prepared;
    const role = await access.require(c.var.actor, { account: account.login, repository }, 'admin');
    if (role === null) throw notFound();
    const stack = await stacks.create(prepared);
    c.header('location', `${path}/${encodeURIComponent(stack.account)}/${encodeURIComponent(stack.id)}`);
    return c.json(await stackObject(stack, runs, role), 201);
  });

  api.openapi(showRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'reader');
    const role = (await guard.roleOn(c.var.actor, stack)) ?? 'reader';
    const shown = await stackObject(stack, runs, role);
    c.header('etag', entityTag(stackVersion(stack), shown));
    return c.json(shown, 200);
  });

  api.openapi(updateRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'admin');
    const ifMatch = c.req.valid('header')['if-match'];
    const changed = await stacks.update(stack, c.req.valid('json'), (now) =>
      requireMatch(ifMatch, stackVersion(now)),
    );
    const shown = await stackObject(changed, runs, 'admin');
    c.header('etag', entityTag(stackVersion(changed), shown));
    return c.json(shown, 200);
  });

  api.openapi(removeRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'admin');
    const ifMatch = c.req.valid('header')['if-match'];
    await removeStack(parts, stack, (now) => requireMatch(ifMatch, stackVersion(now)));
    return c.body(null, 204);
  });

  return api;
}

/** Before GitHub is asked: otherwise the answer would tell where else the App is installed. */
function mayKnow(actor: Actor, repository: string): boolean {
  const account = onlyAccountOf(actor);
  return account === null || repository.toLowerCase().startsWith(`${account.toLowerCase()}/`);
}
