import { createRoute, z } from '@hono/zod-openapi';
import type { Actor, Role } from '../../access/actor.ts';
import type { Webhooks } from '../../webhooks/endpoint.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Api, newApi } from '../api.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import { json, jsonBody, needs, optionalJsonBody, problems } from './route-parts.ts';
import { webhookObject, webhookSchema } from './webhook-object.ts';
import { webhookInput } from './webhooks.ts';

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
  tags,
  summary: 'One webhook, with its secret (specification §5.5: whoever reads the stack may read it)',
  ...needs('reader'),
  request: { params: webhookParams },
  responses: { 200: json(webhookSchema, 'The webhook.'), ...problems },
});

const updateRoute = createRoute({
  method: 'patch',
  path: webhookPath,
  tags,
  summary: 'Change a webhook; disabling it stops its pending deliveries',
  ...needs('admin'),
  request: { params: webhookParams, ...jsonBody(webhookInput.partial().openapi('WebhookPatch')) },
  responses: { 200: json(webhookSchema, 'The webhook as it is now.'), ...problems },
});

const removeRoute = createRoute({
  method: 'delete',
  path: webhookPath,
  tags,
  summary: 'Delete a webhook with its deliveries',
  ...needs('admin'),
  request: { params: webhookParams },
  responses: { 204: { description: 'Deleted.' }, ...problems },
});

const regenerateInput = z.strictObject({
  secret: z.string().min(1).optional().openapi({ description: 'Random when left out.' }),
  // The field is promised for later; to ignore another value would break receivers without a word.
  overlapHours: z.literal(0, { error: 'only 0 is supported yet: the old secret ends at once' }).optional(),
});

const regenerateRoute = createRoute({
  method: 'post',
  path: `${webhookPath}/secret/regenerate`,
  tags,
  summary: 'Replace the secret of a webhook',
  ...needs('admin'),
  request: { params: webhookParams, ...optionalJsonBody(regenerateInput) },
  responses: { 200: json(z.object({ secret: z.string() }), 'The new secret.'), ...problems },
});

export function webhookRoutes({ guard, webhooks }: { guard: Guard; webhooks: Webhooks }): Api {
  const api = newApi();

  async function allowed(actor: Actor, id: string, needed: Role): Promise<Webhook> {
    const webhook = await webhooks.find(id);
    if (!webhook) throw notFound();
    await guard.stackByKey(actor, webhook.stackKey, needed);
    return webhook;
  }

  api.openapi(showRoute, async (c) =>
    c.json(webhookObject(await allowed(c.var.actor, c.req.valid('param').webhook, 'reader')), 200),
  );

  api.openapi(updateRoute, async (c) => {
    const { id } = await allowed(c.var.actor, c.req.valid('param').webhook, 'admin');
    const { endpoint, ...change } = c.req.valid('json');
    const webhook = await webhooks.update(id, { ...change, ...(endpoint === undefined ? {} : { endpoint }) });
    if (!webhook) throw notFound();
    return c.json(webhookObject(webhook), 200);
  });

  api.openapi(removeRoute, async (c) => {
    const { id } = await allowed(c.var.actor, c.req.valid('param').webhook, 'admin');
    if (!(await webhooks.remove(id))) throw notFound();
    return c.body(null, 204);
  });

  api.openapi(regenerateRoute, async (c) => {
    const { id } = await allowed(c.var.actor, c.req.valid('param').webhook, 'admin');
    const secret = await webhooks.regenerateSecret(id, c.req.valid('json').secret);
    if (secret === null) throw notFound();
    return c.json({ secret }, 200);
  });

  return api;
}
