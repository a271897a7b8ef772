import { createRoute, z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, pageOf, pageQuery, visiblePage } from '../page.ts';
import { notFound } from '../problem.ts';
import { inboxDeliveryExample } from './examples.ts';
import { anyObject, json, jsonBytes, needsInstanceAdmin, problems, refuses } from './route-parts.ts';

/** GitHub's deliveries, as the web needs them: github/inbox-control.ts, which this folder must not import. */
export interface InboxControl {
  list(filter: {
    readonly state: State | null;
    readonly event: string | null;
    readonly before: number | null;
    readonly limit: number;
  }): Promise<readonly Delivery[]>;
  find(id: string): Promise<Delivery | null>;
  body(id: string): Promise<Uint8Array | null>;
  replay(id: string): Promise<'replayed' | 'unknown' | 'pending' | 'body-dropped'>;
}

interface Delivery {
  readonly seq: number;
  readonly id: string;
  readonly event: string;
  readonly state: State;
  readonly attempts: number;
  readonly receivedAtMs: number;
  readonly nextAtMs: number;
  readonly note: string | null;
  readonly size: number | null;
}

const states = ['pending', 'done', 'ignored', 'failed'] as const;
type State = (typeof states)[number];

const path = '/api/v1/inbox';
const tags = ['github'];
const params = z.object({
  delivery: z
    .string()
    .min(1)
    .max(200)
    .openapi({ description: 'X-GitHub-Delivery.', example: '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
});

const deliverySchema = z
  .object({
    id: z.string().openapi({ description: 'X-GitHub-Delivery.' }),
    event: z.string().openapi({ description: 'X-GitHub-Event.' }),
    state: z.enum(states),
    attempts: z.number().int(),
    receivedAt: z.number().int(),
    nextAt: z.number().int().optional().openapi({ description: 'Next attempt, while it waits for one.' }),
    note: z.string().optional().openapi({ description: 'What came of it, or what went wrong last.' }),
    size: z
      .number()
      .int()
      .nullable()
      .openapi({ description: 'Bytes of the body; null once it was dropped.' }),
  })
  .openapi('InboxDelivery', { example: inboxDeliveryExample });

const listRoute = createRoute({
  method: 'get',
  path,
  operationId: 'listInbox',
  tags,
  summary: 'What GitHub delivered, newest first',
  ...needsInstanceAdmin,
  request: {
    query: pageQuery.extend({
      state: z.enum(states).optional(),
      event: z.string().min(1).max(100).optional().openapi({ example: 'push' }),
    }),
  },
  responses: { 200: json(pageOf(deliverySchema), 'A page of deliveries.'), ...problems },
});

const showRoute = createRoute({
  method: 'get',
  path: `${path}/{delivery}`,
  operationId: 'getInboxDelivery',
  tags,
  summary: 'One delivery, without its body',
  ...needsInstanceAdmin,
  request: { params },
  responses: { 200: json(deliverySchema, 'The delivery.'), ...problems },
});

const bodyRoute = createRoute({
  method: 'get',
  path: `${path}/{delivery}/body`,
  operationId: 'getInboxDeliveryBody',
  tags,
  summary: 'The body as GitHub sent it; may hold e-mail addresses',
  ...needsInstanceAdmin,
  ...refuses('body-dropped'),
  request: { params },
  responses: {
    200: json(
      anyObject.openapi({ example: { ref: 'refs/heads/main', before: '…', after: '…' } }),
      'Byte for byte as it came.',
    ),
    ...problems,
  },
});

const replayRoute = createRoute({
  method: 'post',
  path: `${path}/{delivery}/replay`,
  operationId: 'replayInboxDelivery',
  tags,
  summary: 'Handle a settled delivery once more; never makes a second run',
  ...needsInstanceAdmin,
  ...refuses('delivery-pending', 'body-dropped'),
  request: { params },
  responses: { 202: json(deliverySchema, 'It will be handled.'), ...problems },
});

/** For administrators of the instance: gates/instance.ts lets nobody else get here. */
export function inboxRoutes({ inbox }: { inbox: InboxControl }): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const { limit, cursor, state = null, event = null } = c.req.valid('query');
    const page = await visiblePage({
      limit,
      after: decodeCursor(cursor, /^\d{1,15}$/),
      read: (before, count) =>
        inbox.list({ state, event, before: before === null ? null : Number(before), limit: count }),
      positionOf: ({ seq }) => String(seq),
      show: async (delivery) => deliveryObject(delivery),
    });
    return c.json(page, 200);
  });

  api.openapi(showRoute, async (c) => {
    return c.json(await show(c.req.valid('param').delivery), 200);
  });

  api.openapi(bodyRoute, async (c) => {
    const id = c.req.valid('param').delivery;
    const body = await inbox.body(id);
    if (body) return jsonBytes(body);
    if (await inbox.find(id)) throw bodyDropped(id);
    throw notFound();
  });

  api.openapi(replayRoute, async (c) => {
    const id = c.req.valid('param').delivery;
    const result = await inbox.replay(id);
    if (result === 'unknown') throw notFound();
    if (result === 'body-dropped') throw bodyDropped(id);
    if (result === 'pending') {
      throw new UserError('delivery-pending', `The delivery ${id} is pending already.`, {
        hint: '`nextAt` says when it is tried next.',
      });
    }
    return c.json(await show(id), 202);
  });

  async function show(id: string) {
    const delivery = await inbox.find(id);
    if (!delivery) throw notFound();
    return deliveryObject(delivery);
  }

  return api;
}

function bodyDropped(id: string): UserError {
  return new UserError('body-dropped', `The body of the delivery ${id} is not kept any more.`, {
    hint: 'Bodies are kept for 7 days. GitHub may have it still: see Recent Deliveries in the settings of the App.',
  });
}

function deliveryObject(delivery: Delivery): z.infer<typeof deliverySchema> {
  const { id, event, state, attempts, receivedAtMs, nextAtMs, note, size } = delivery;
  const isWaiting = state === 'pending' && nextAtMs > 0;
  return {
    id,
    event,
    state,
    attempts,
    receivedAt: toUnixSeconds(receivedAtMs),
    ...(isWaiting ? { nextAt: toUnixSeconds(nextAtMs) } : {}),
    ...(note === null ? {} : { note }),
    size,
  };
}
