import { createRoute, z } from '@hono/zod-openapi';
import { type Actor, actorName, type Role } from '../../access/actor.ts';
import { runStates } from '../../runs/run.ts';
import { UserError } from '../../user-error.ts';
import type { Deliveries } from '../../webhooks/deliveries.ts';
import type { Delivery } from '../../webhooks/delivery-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, idPattern, pageOf, pageQuery, visiblePage } from '../page.ts';
import { notFound } from '../problem.ts';
import { deliveryObject, deliverySchema, deliveryStatuses } from './delivery-object.ts';
import { payloadExample } from './examples.ts';
import { anyObject, json, jsonBytes, needs, problems, refuses } from './route-parts.ts';
import { webhookParams, webhookPath } from './webhook.ts';
import type { WebhookGuard } from './webhook-guard.ts';

export interface DeliveryRouteParts {
  readonly webhookGuard: WebhookGuard;
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
  operationId: 'listDeliveries',
  tags,
  summary: 'Deliveries of a webhook, newest first',
  ...needs('reader'),
  request: {
    params: webhookParams,
    query: pageQuery.extend({
      status: z.enum(deliveryStatuses).optional(),
      run: z.string().min(1).max(200).optional().openapi({ description: 'Only those of that run.' }),
      state: z.enum(runStates).optional().openapi({ description: 'Only those of changes to that state.' }),
    }),
  },
  responses: { 200: json(pageOf(deliverySchema), 'A page of deliveries.'), ...problems },
});

const showRoute = createRoute({
  method: 'get',
  path,
  operationId: 'getDelivery',
  tags,
  summary: 'One delivery with its attempts',
  ...needs('reader'),
  request: { params: deliveryParams },
  responses: { 200: json(deliverySchema, 'The delivery.'), ...problems },
});

const bodyRoute = createRoute({
  method: 'get',
  path: `${path}/body`,
  operationId: 'getDeliveryBody',
  tags,
  summary: 'What is sent, byte for byte: the payload of the state change',
  ...needs('reader'),
  request: { params: deliveryParams },
  responses: {
    200: json(anyObject.openapi({ example: payloadExample }), 'The bytes that the signatures are made of.'),
    ...problems,
  },
});

const curlRoute = createRoute({
  method: 'get',
  path: `${path}/curl`,
  operationId: 'getDeliveryCurl',
  tags,
  summary: 'A shell command that sends an attempt again, with the same bytes and headers',
  ...needs('admin'),
  ...refuses('exchange-missing'),
  request: {
    params: deliveryParams,
    query: z.object({
      attempt: z.coerce
        .number()
        .int()
        .min(1)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .openapi({ description: 'Default: the last.' }),
    }),
  },
  responses: {
    200: {
      description: 'For POSIX shells. Values of custom headers are `***`.',
      content: {
        'text/plain': {
          schema: z.string(),
          example: "curl -X POST 'https://receiver.example/slipway' ...\n",
        },
      },
    },
    ...problems,
  },
});

const resendRoute = createRoute({
  method: 'post',
  path: `${path}/resend`,
  operationId: 'resendDelivery',
  tags,
  summary: 'Send a delivery again, with the same id',
  ...needs('writer'),
  ...refuses('webhook-disabled'),
  request: { params: deliveryParams },
  responses: { 202: json(deliverySchema, 'It will be sent at once.'), ...problems },
});

export function deliveryRoutes({ webhookGuard, deliveries }: DeliveryRouteParts): Api {
  const api = newApi();

  async function allowed(actor: Actor, id: string, needed: Role) {
    const delivery = await deliveries.find(id);
    if (!delivery) throw notFound();
    return { delivery, stack: await webhookGuard.stackOf(actor, delivery.webhookId, needed) };
  }

  api.openapi(listRoute, async (c) => {
    const id = c.req.valid('param').webhook;
    const stack = await webhookGuard.stackOf(c.var.actor, id, 'reader');
    const isAdmin = await webhookGuard.isAdmin(c.var.actor, stack);
    const { limit, cursor, status, run: runId, state } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, idPattern),
      read: (before, count) => deliveries.list(id, { before, limit: count, status, runId, state }),
      positionOf: (delivery) => delivery.id,
      show: async (delivery) => deliveryObject(delivery, isAdmin),
    });
    return c.json(page, 200);
  });

  api.openapi(showRoute, async (c) => {
    const { delivery, stack } = await allowed(c.var.actor, c.req.valid('param').delivery, 'reader');
    return c.json(deliveryObject(delivery, await webhookGuard.isAdmin(c.var.actor, stack)), 200);
  });

  api.openapi(bodyRoute, async (c) => {
    const { delivery } = await allowed(c.var.actor, c.req.valid('param').delivery, 'reader');
    const body = await deliveries.body(delivery);
    if (!body) throw notFound();
    return jsonBytes(body);
  });

  api.openapi(curlRoute, async (c) => {
    const { delivery } = await allowed(c.var.actor, c.req.valid('param').delivery, 'admin');
    const { attempt = null } = c.req.valid('query');
    const command = await deliveries.curl(delivery, attempt);
    if (command === null) throw nothingKnown(delivery, attempt);
    return c.text(command, 200);
  });

  api.openapi(resendRoute, async (c) => {
    const { actor } = c.var;
    const found = await allowed(actor, c.req.valid('param').delivery, 'writer');
    const delivery = await deliveries.resend(found.delivery.id, actorName(actor));
    if (!delivery) throw notFound();
    return c.json(deliveryObject(delivery, await webhookGuard.isAdmin(actor, found.stack)), 202);
  });

  return api;
}

function nothingKnown({ id }: Delivery, attempt: number | null): UserError {
  const what =
    attempt === null ? `any attempt of the delivery ${id}` : `attempt ${attempt} of the delivery ${id}`;
  return new UserError('exchange-missing', `Nothing is known of what went over the wire in ${what}.`, {
    hint: 'There was no such attempt, it is not over, it was blocked, or its record was removed for its age.',
  });
}
