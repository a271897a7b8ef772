import { createRoute, z } from '@hono/zod-openapi';
import { roles } from '../../access/actor.ts';
import type { TokenRecord } from '../../access/token-store.ts';
import type { Tokens } from '../../access/tokens.ts';
import { toUnixSeconds } from '../../clock.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import { notFound } from '../problem.ts';
import { tokenExample } from './examples.ts';
import { idempotencyHeader, json, jsonBody, needsInstanceAdmin, problems } from './route-parts.ts';

const path = '/api/v1/tokens';
const tags = ['access'];

export const tokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(roles),
    account: z.string().nullable().openapi({ description: 'The one account it sees; null: all.' }),
    createdAt: z.number().int(),
    createdBy: z.string(),
    expiresAt: z.number().int().nullable(),
    lastUsedAt: z.number().int().nullable().openapi({ description: 'A few minutes old at most.' }),
  })
  .openapi('Token', { example: tokenExample });

export const madeTokenSchema = tokenSchema
  .extend({ token: z.string() })
  .openapi({ example: { ...tokenExample, token: 'slipway_…' } });

/** Far beyond any life of a token, and still a date. */
const maxSeconds = 253_402_300_799;

const newTokenInput = z
  .strictObject({
    name: z
      .string()
      .max(200)
      .trim()
      .min(1)
      .openapi({ description: 'Who will use it; stands in what it does.', pattern: String.raw`\S` }),
    role: z.enum(roles),
    account: z.string().min(1).max(200).nullable().optional(),
    expiresAt: z.number().int().min(1).max(maxSeconds).nullable().optional(),
  })
  .openapi('NewToken', { example: { name: 'prometheus', role: 'reader' } });

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listTokens',
  tags,
  summary: 'Tokens of the API, without the tokens themselves',
  ...needsInstanceAdmin,
  request: { query: pageQuery },
  responses: { 200: json(pageOf(tokenSchema), 'A page of tokens, oldest first.'), ...problems },
});

const createTokenRoute = createRoute({
  method: 'post',
  path,
  operationId: 'createToken',
  tags,
  summary: 'Make a token; it is told this once',
  ...needsInstanceAdmin,
  request: { headers: idempotencyHeader, ...jsonBody(newTokenInput) },
  responses: { 201: json(madeTokenSchema, 'The token.'), ...problems },
});

const revokeRoute = createRoute({
  method: 'delete',
  path: `${path}/{token}`,
  operationId: 'revokeToken',
  tags,
  summary: 'Make a token worth nothing, at once',
  ...needsInstanceAdmin,
  request: {
    params: z.object({
      token: z
        .string()
        .min(1)
        .max(200)
        .openapi({ description: 'Id of the token.', example: tokenExample.id }),
    }),
  },
  responses: { 204: { description: 'Revoked.' }, ...problems },
});

/** For administrators of the instance: gates/instance.ts lets nobody else get here. */
export function tokenRoutes({ tokens }: { tokens: Tokens }): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (after, count) => tokens.list({ after, limit: count }),
      positionOf: ({ id }) => id,
      show: async (token) => tokenObject(token),
    });
    return c.json(page, 200);
  });

  api.openapi(createTokenRoute, async (c) => {
    const { expiresAt, account = null, ...input } = c.req.valid('json');
    const expiresAtMs = typeof expiresAt === 'number' ? expiresAt * 1000 : null;
    const { token, ...record } = await tokens.create({ ...input, account, expiresAtMs }, c.var.actor);
    return c.json({ ...tokenObject(record), token }, 201);
  });

  api.openapi(revokeRoute, async (c) => {
    if (!(await tokens.revoke(c.req.valid('param').token))) throw notFound();
    return c.body(null, 204);
  });

  return api;
}

function tokenObject(record: TokenRecord): z.infer<typeof tokenSchema> {
  const { id, name, role, account, createdBy, createdAtMs, expiresAtMs, lastUsedAtMs } = record;
  return {
    ...{ id, name, role, account, createdAt: toUnixSeconds(createdAtMs), createdBy },
    expiresAt: expiresAtMs === null ? null : toUnixSeconds(expiresAtMs),
    lastUsedAt: lastUsedAtMs === null ? null : toUnixSeconds(lastUsedAtMs),
  };
}
