import { createRoute, z } from '@hono/zod-openapi';
import { type Actor, actorName, type Role } from '../../access/actor.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Deliveries } from '../../webhooks/deliveries.ts';
import type { Webhooks } from '../../webhooks/endpoint.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { webhookParams, webhookPath } from './webhook.ts';
import { deliveryObject, deliverySchema } from './webhook-object.ts';

export interface DeliveryRouteParts {
  readonly guard: Guard;
  readonly access: Access;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
}

const path = '/api/v1/deliveries/{delivery}';
const tags = ['webhooks'];
const deliveryParams = z.object({
  delivery: z.string().min(1).max(200).openapi({
    description: 'Id of the delivery (X-Slipway-Delivery).',
    example: '01JD4Z0P6V3Q8N5T2W7X9Y1B4C',
  }),
});

const listRoute = createRoute({
  method: 'get',
  path: `${webhookPath}/deliveries`,
  tags,
  summary: 'Deliveries of a webhook, newest first',
  ...needs('reader'),
  request: { params: webhookParams, query: pageQuery },
  responses: { 200: json(pageOf(deliverySchema), 'A page of deliveries.'), ...problems },
});

const showRoute = createRoute({
  method: 'get',
  path,
  tags,
  summary: 'One delivery with its attempts',
  ...needs('reader'),
  request: { params: deliveryParams },
  responses: { 200: json(deliverySchema, 'The delivery.'), ...problems },
});

const resendRoute = createRoute({
  method: 'post',
  path: `${path}/resend`,
  tags,
  summary: 'Send a delivery again, with the same id',
  ...needs('writer'),
  request: { params: deliveryParams },
  responses: { 202: json(deliverySchema, 'It will be sent at once.'), ...problems },
});

export function deliveryRoutes({ guard, access, webhooks, deliveries }: DeliveryRouteParts): Api {
  const api = newApi();

  async function stackOfWebhook(actor: Actor, id: string, needed: Role): Promise<Stack> {
    const webhook = await webhooks.find(id);
    if (!webhook) throw notFound();
    return guard.stackByKey(actor, webhook.stackKey, needed);
  }

  async function isAdmin(actor: Actor, stack: Stack): Promise<boolean> {
    const role = await access.require(actor, stack.account, stack.repository, 'reader');
    return role !== null && includesRole(role, 'admin');
  }

  api.openapi(listRoute, async (c) => {
    const id = c.req.valid('param').webhook;
    const stack = await stackOfWebhook(c.var.actor, id, 'reader');
    const details = await isAdmin(c.var.actor, stack);
    const { limit, cursor } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (before, count) => deliveries.list(id, { before, limit: count }),
      positionOf: (delivery) => delivery.id,
      show: async (delivery) => deliveryObject(delivery, details),
    });
    return c.json(page, 200);
  });

  api.openapi(showRoute, async (c) => {
    const delivery = await deliveries.find(c.req.valid('param').delivery);
    if (!delivery) throw notFound();
    const stack = await stackOfWebhook(c.var.actor, delivery.webhookId, 'reader');
    return c.json(deliveryObject(delivery, await isAdmin(c.var.actor, stack)), 200);
  });

  api.openapi(resendRoute, async (c) => {
    const found = await deliveries.find(c.req.valid('param').delivery);
    if (!found) throw notFound();
    const stack = await stackOfWebhook(c.var.actor, found.webhookId, 'writer');
    const delivery = await deliveries.resend(found.id, actorName(c.var.actor));
    if (!delivery) throw notFound();
    return c.json(deliveryObject(delivery, await isAdmin(c.var.actor, stack)), 202);
  });

  return api;
}
