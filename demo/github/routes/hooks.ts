/** The App's list of deliveries, each sending an item of its own, and redelivery on request. */
import { Hono } from 'hono';
import { requireApp } from '../access.ts';
import { notFound } from '../api-error.ts';
import type { ApiContext, ApiEnv } from '../pipeline.ts';
import { idParam } from '../request.ts';
import type { GithubState } from '../state.ts';
import { apiUrl } from '../views/address.ts';
import type { Delivery, DeliveryAnswer, Webhooks } from '../webhooks.ts';

interface Item {
  delivery: Delivery;
  answer: DeliveryAnswer;
}

export function hookRoutes(state: GithubState, webhooks: Webhooks): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/app/hook/config', (c) => {
    requireApp(c);
    const { target } = webhooks;
    return c.json({
      content_type: target?.contentType ?? 'json',
      insecure_ssl: target?.insecureSsl ? '1' : '0',
      ...(target?.secret ? { secret: '********' } : {}),
      url: target?.url ?? '',
    });
  });

  routes.get('/app/hook/deliveries', (c) => {
    requireApp(c);
    const { status, cursor } = c.req.query();
    const perPage = Math.min(Number(c.req.query('per_page') ?? 30) || 30, 100);
    const found = newestFirst().filter(({ answer }) => {
      if (cursor !== undefined && answer.id >= Number(cursor.replace('v1_', ''))) return false;
      return status === undefined || (status === 'failure') === isFailure(answer);
    });
    const page = found.slice(0, perPage);
    const last = page.at(-1);
    if (last && found.length > page.length) {
      const url = new URL(c.req.url);
      url.searchParams.set('cursor', `v1_${last.answer.id}`);
      c.header('link', `<${url}>; rel="next"`);
    }
    return c.json(page.map(itemView));
  });

  routes.get('/app/hook/deliveries/:id', (c) => {
    const item = requireItem(c);
    const { delivery, answer } = item;
    const response = { headers: {}, payload: answer.body };
    const url = apiUrl(state, `/app/hook/deliveries/${answer.id}`);
    return c.json({ ...itemView(item), url, request: { headers: {}, payload: delivery.payload }, response });
  });

  routes.post('/app/hook/deliveries/:id/attempts', (c) => {
    webhooks.redeliverLater(requireItem(c).delivery.guid);
    return c.json({}, 202);
  });

  function newestFirst(): Item[] {
    const items = webhooks.deliveries.flatMap((delivery) =>
      delivery.answers.map((answer) => ({ delivery, answer })),
    );
    return items.sort((left, right) => right.answer.id - left.answer.id);
  }

  function requireItem(c: ApiContext): Item {
    requireApp(c);
    const id = idParam(c, 'id');
    const item = newestFirst().find(({ answer }) => answer.id === id);
    if (!item) throw notFound();
    return item;
  }

  function itemView({ delivery, answer }: Item) {
    return {
      id: answer.id,
      guid: delivery.guid,
      delivered_at: new Date(answer.atMs).toISOString(),
      redelivery: answer.redelivery,
      duration: answer.durationMs / 1000,
      status: statusText(answer),
      // Who does not answer at all counts as 502 there.
      status_code: answer.status === 0 ? 502 : answer.status,
      event: delivery.event,
      action: delivery.action,
      installation_id: delivery.installationId,
      repository_id: delivery.repositoryId,
      throttled_at: null,
    };
  }

  return routes;
}

const isFailure = ({ status }: DeliveryAnswer): boolean => status < 200 || status > 399;

function statusText(answer: DeliveryAnswer): string {
  if (answer.status === 0) return 'failed to connect to host';
  return isFailure(answer) ? `Invalid HTTP Response: ${answer.status}` : 'OK';
}
