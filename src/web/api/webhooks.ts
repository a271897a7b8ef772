import { createRoute, z } from '@hono/zod-openapi';
import type { Webhooks } from '../../webhooks/endpoint.ts';
import { randomSecret } from '../../webhooks/secrets.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import type { Guard } from './guard.ts';
import {
  idempotencyHeader,
  json,
  jsonBody,
  needs,
  problems,
  refuses,
  stackParams,
  stackPath,
} from './route-parts.ts';
import { filterOf } from './webhook-filter.ts';
import { newWebhookInput } from './webhook-input.ts';
import { webhookObject, webhookSchema, webhookSummary, webhookSummarySchema } from './webhook-object.ts';

const path = `${stackPath}/webhooks`;
const tags = ['webhooks'];
const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listWebhooks',
  tags,
  summary: 'Webhooks of a stack, without secrets and without what they missed',
  ...needs('reader'),
  request: { params: stackParams, query: pageQuery },
  responses: { 200: json(pageOf(webhookSummarySchema), 'A page of webhooks, oldest first.'), ...problems },
});

const createWebhookRoute = createRoute({
  method: 'post',
  path,
  operationId: 'createWebhook',
  tags,
  summary: 'Add a webhook',
  ...needs('admin'),
  ...refuses('endpoint-not-unique', 'endpoint-refused'),
  request: { params: stackParams, headers: idempotencyHeader, ...jsonBody(newWebhookInput) },
  responses: {
    201: { ...json(webhookSchema, 'The webhook.'), headers: z.object({ location: z.string() }) },
    ...problems,
  },
});

/** The webhooks of a stack; one webhook by its id is in webhook.ts. */
export function stackWebhookRoutes({ guard, webhooks }: { guard: Guard; webhooks: Webhooks }): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'reader');
    const isAdmin = await guard.administers(c.var.actor, stack);
    const { limit, cursor } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (after, count) => webhooks.list(stack.key, { after, limit: count }),
      positionOf: ({ id }) => id,
      show: async (webhook) =>
        webhookSummary(webhook, {
          ...{ stack, isAdmin, health: await webhooks.health(webhook.id) },
          lastAttempt: await webhooks.lastAttempt(webhook.id),
        }),
    });
    return c.json(page, 200);
  });

  api.openapi(createWebhookRoute, async (c) => {
    const stack = await guard.stack(c.var.actor, c.req.valid('param'), 'admin');
    const { generateSecret = false, filter, ...input } = c.req.valid('json');
    const webhook = await webhooks.create(stack.key, {
      ...input,
      ...(generateSecret && { secret: randomSecret() }),
      ...(filter !== undefined && { filter: filterOf(filter) }),
    });
    c.header('location', `/api/v1/webhooks/${webhook.id}`);
    const standing = { stack, health: null, lastAttempt: null, isAdmin: true };
    return c.json(webhookObject(webhook, standing, generateSecret ? 'secret' : 'fingerprint'), 201);
  });

  return api;
}
