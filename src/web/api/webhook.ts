import { createRoute, z } from '@hono/zod-openapi';
import type { Actor, Role } from '../../access/actor.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Webhooks } from '../../webhooks/endpoint.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Api, newApi } from '../api.ts';
import { requireMatch, webhookTag, webhookVersion } from '../entity-tag.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import {
  ifMatchHeader,
  ifNoneMatchHeader,
  json,
  jsonBody,
  needs,
  notModified,
  optionalJsonBody,
  problems,
  refuses,
  tagged,
} from './route-parts.ts';
import { filterOf } from './webhook-filter.ts';
import { regenerateInput, webhookPatch } from './webhook-input.ts';
import {
  oldSecretsObject,
  oldSecretsSchema,
  type ShownStanding,
  webhookObject,
  webhookSchema,
} from './webhook-object.ts';

export const webhookPath = '/api/v1/webhooks/{webhook}';
export const webhookParams = z.object({
  webhook: z
    .string()
    .min(1)
    .max(200)
    .openapi({ description: 'Id of the webhook.', example: '01JD4Z0P6V3Q8N5T2W7X9Y1B4C' }),
});
const tags = ['webhooks'];

const showRoute = createRoute({
  method: 'get',
  path: webhookPath,
  operationId: 'getWebhook',
  tags,
  summary: 'One webhook, with its secret (specification §5.5: whoever reads the stack may read it)',
  ...needs('reader'),
  request: { params: webhookParams, headers: ifNoneMatchHeader },
  responses: { 200: tagged(webhookSchema, 'The webhook.'), ...notModified, ...problems },
});

const updateRoute = createRoute({
  method: 'patch',
  path: webhookPath,
  operationId: 'updateWebhook',
  tags,
  summary: 'Change a webhook; disabling it stops its pending deliveries',
  ...needs('admin'),
  ...refuses('endpoint-not-unique', 'endpoint-refused'),
  request: { params: webhookParams, headers: ifMatchHeader, ...jsonBody(webhookPatch) },
  responses: { 200: tagged(webhookSchema, 'The webhook as it is now.'), ...problems },
});

const removeRoute = createRoute({
  method: 'delete',
  path: webhookPath,
  operationId: 'deleteWebhook',
  tags,
  summary: 'Delete a webhook with its deliveries',
  ...needs('admin'),
  request: { params: webhookParams, headers: ifMatchHeader },
  responses: { 204: { description: 'Deleted.' }, ...problems },
});

const regenerateRoute = createRoute({
  method: 'post',
  path: `${webhookPath}/secret/regenerate`,
  operationId: 'regenerateWebhookSecret',
  tags,
  summary: 'Replace the secret of a webhook',
  ...needs('admin'),
  request: { params: webhookParams, ...optionalJsonBody(regenerateInput) },
  responses: {
    200: json(
      z
        .object({ secret: z.string(), oldSecrets: oldSecretsSchema })
        .openapi({ example: { secret: 'hT3k0-Wq…', oldSecrets: [] } }),
      'The new secret.',
    ),
    ...problems,
  },
});

const endOverlapRoute = createRoute({
  method: 'delete',
  path: `${webhookPath}/secret/old`,
  operationId: 'endSecretOverlap',
  tags,
  summary: 'Stop using replaced secrets now',
  ...needs('admin'),
  request: { params: webhookParams },
  responses: { 204: { description: 'Only the newest secret is used.' }, ...problems },
});

export function webhookRoutes({ guard, webhooks }: { guard: Guard; webhooks: Webhooks }): Api {
  const api = newApi();

  async function allowed(
    actor: Actor,
    id: string,
    needed: Role,
  ): Promise<{ webhook: Webhook; stack: Stack }> {
    const webhook = await webhooks.find(id);
    if (!webhook) throw notFound();
    return { webhook, stack: await guard.stackByKey(actor, webhook.stackKey, needed) };
  }

  async function standingOf(webhook: Webhook, stack: Stack, isAdmin: boolean): Promise<ShownStanding> {
    const [health, missed, lastAttempt] = await Promise.all([
      webhooks.health(webhook.id),
      webhooks.missed(webhook),
      webhooks.lastAttempt(webhook.id),
    ]);
    return { stack, isAdmin, health, missed, lastAttempt };
  }

  api.openapi(showRoute, async (c) => {
    const { actor } = c.var;
    const { webhook, stack } = await allowed(actor, c.req.valid('param').webhook, 'reader');
    const standing = await standingOf(webhook, stack, await guard.administers(actor, stack));
    const shown = webhookObject(webhook, standing, 'secret');
    c.header('etag', webhookTag(webhook, shown));
    return c.json(shown, 200);
  });

  api.openapi(updateRoute, async (c) => {
    const found = await allowed(c.var.actor, c.req.valid('param').webhook, 'admin');
    const { endpoint, filter, ...change } = c.req.valid('json');
    const patch = {
      ...change,
      ...(endpoint !== undefined && { endpoint }),
      ...(filter !== undefined && { filter: filterOf(filter) }),
    };
    const ifMatch = c.req.valid('header')['if-match'];
    const webhook = await webhooks.update(found.webhook.id, patch, (now) =>
      requireMatch(ifMatch, webhookVersion(now)),
    );
    if (!webhook) throw notFound();
    const shown = webhookObject(webhook, await standingOf(webhook, found.stack, true), 'fingerprint');
    c.header('etag', webhookTag(webhook, shown));
    return c.json(shown, 200);
  });

  api.openapi(removeRoute, async (c) => {
    const { id } = (await allowed(c.var.actor, c.req.valid('param').webhook, 'admin')).webhook;
    const ifMatch = c.req.valid('header')['if-match'];
    if (!(await webhooks.remove(id, (now) => requireMatch(ifMatch, webhookVersion(now))))) throw notFound();
    return c.body(null, 204);
  });

  api.openapi(regenerateRoute, async (c) => {
    const { id } = (await allowed(c.var.actor, c.req.valid('param').webhook, 'admin')).webhook;
    const webhook = await webhooks.regenerateSecret(id, c.req.valid('json'));
    if (!webhook?.secret) throw notFound();
    return c.json({ secret: webhook.secret, oldSecrets: oldSecretsObject(webhook) }, 200);
  });

  api.openapi(endOverlapRoute, async (c) => {
    const { id } = (await allowed(c.var.actor, c.req.valid('param').webhook, 'admin')).webhook;
    if (!(await webhooks.endOverlap(id))) throw notFound();
    return c.body(null, 204);
  });

  return api;
}
