import { createRoute, z } from '@hono/zod-openapi';
import {
  checkVariable,
  checkVariableCount,
  type EnvironmentVariable,
  maxNameLength,
  maxValueBytes,
  minSecretLength,
} from '../../stacks/environment.ts';
import { refuseManagedVariable } from '../../stacks/managed.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { Transactions } from '../../tx.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import { json, jsonBody, needs, problems, refuses, stackParams, stackPath } from './route-parts.ts';

export interface EnvironmentRouteParts {
  readonly guard: Guard;
  readonly stackStore: StackStore;
  readonly transactions: Transactions;
  /** What the stack's vendor keeps for itself. */
  readonly refusesVariable: (stack: Stack, name: string) => boolean;
}

const path = `${stackPath}/environment`;
const tags = ['environment'];
const access = z.enum(['all', 'tracked', 'apply']).openapi({
  description:
    'Who sees it: all runs; TRACKED, TASK and DESTROY runs; applying, destroying and performing only.',
});

export const variableSchema = z
  .object({
    name: z.string(),
    secret: z.boolean(),
    access,
    value: z.string().optional().openapi({ description: 'Left out when secret.' }),
    managedBy: z.literal('file').optional().openapi({ description: 'The repository file sets it.' }),
  })
  .openapi('EnvironmentVariable', {
    example: { name: 'AWS_REGION', secret: false, access: 'all', value: 'eu-west-1' },
  });

const variableInput = z
  .strictObject({
    value: z.string().openapi({
      description: `Without NUL characters. A secret has at least ${minSecretLength}.`,
      maxLength: maxValueBytes,
      pattern: String.raw`^[^\x00]*$`,
    }),
    secret: z.boolean().default(true),
    access: access.default('all'),
  })
  .openapi('EnvironmentVariableInput', {
    example: { value: 'eu-west-1', secret: false },
    anyOf: [
      { properties: { secret: { const: false } }, required: ['secret'] },
      { properties: { value: { minLength: minSecretLength } } },
    ],
  });

const variableParams = stackParams.extend({
  name: z
    .string()
    .min(1)
    .max(maxNameLength)
    .openapi({ description: 'Name of the variable.', example: 'AWS_REGION' }),
});

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listVariables',
  tags,
  summary: 'Variables of a stack, secret values left out',
  ...needs('reader'),
  request: { params: stackParams, query: wholeListQuery },
  responses: { 200: json(pageOf(variableSchema), 'All variables, by name.'), ...problems },
});

const putRoute = createRoute({
  method: 'put',
  path: `${path}/{name}`,
  operationId: 'setVariable',
  tags,
  summary: 'Set a variable',
  ...needs('admin'),
  ...refuses('managed-by-file', 'environment-name-refused'),
  request: { params: variableParams, ...jsonBody(variableInput) },
  responses: { 204: { description: 'Set, for runs that are prepared from now on.' }, ...problems },
});

const removeRoute = createRoute({
  method: 'delete',
  path: `${path}/{name}`,
  operationId: 'removeVariable',
  tags,
  summary: 'Remove a variable',
  ...needs('admin'),
  ...refuses('managed-by-file'),
  request: { params: variableParams },
  responses: { 204: { description: 'Removed.' }, ...problems },
});

export function environmentRoutes(parts: EnvironmentRouteParts): Api {
  const { guard, stackStore, transactions } = parts;
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'reader');
    const items = (await stackStore.environment(stack.key)).map(variableObject);
    return c.json({ items, nextCursor: null }, 200);
  });

  api.openapi(putRoute, async (c) => {
    const { name, ...params } = c.req.valid('param');
    const stack = await guard.stack(c.var.actor, params, 'admin');
    const given: EnvironmentVariable = { name, ...c.req.valid('json') };
    checkVariable(given, (refused) => parts.refusesVariable(stack, refused));
    await transactions.write(async (tx) => {
      await refuseManagedVariable(stackStore, tx, stack, name);
      checkVariableCount(await stackStore.environment(stack.key, tx), given);
      await stackStore.putVariable(tx, stack.key, given);
    });
    return c.body(null, 204);
  });

  api.openapi(removeRoute, async (c) => {
    const { name, ...params } = c.req.valid('param');
    const stack = await guard.stack(c.var.actor, params, 'admin');
    const removed = await transactions.write(async (tx) => {
      await refuseManagedVariable(stackStore, tx, stack, name);
      return stackStore.removeVariable(tx, stack.key, name);
    });
    if (!removed) throw notFound();
    return c.body(null, 204);
  });

  return api;
}

function variableObject({ name, secret, access: seenBy, value, managedBy }: EnvironmentVariable) {
  return { name, secret, access: seenBy, ...(secret ? {} : { value }), ...(managedBy ? { managedBy } : {}) };
}
