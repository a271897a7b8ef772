import { createRoute, z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import { runStates } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import type { RunDeliveries, ToldWebhook } from '../../webhooks/run-deliveries.ts';
import { type Api, newApi } from '../api.ts';
import { deliveryStatuses } from './delivery-object.ts';
import { exampleIds } from './examples.ts';
import type { Guard } from './guard.ts';
import { json, needs, problems, runParams, runPath } from './route-parts.ts';

export const toldSchema = z
  .object({
    webhook: z.string(),
    host: z
      .string()
      .openapi({ description: 'Host of the endpoint, with its port unless it is the usual one.' }),
    enabled: z.boolean(),
    complete: z.boolean().openapi({ description: 'Nothing is red or amber.' }),
    states: z.array(
      z.object({
        state: z.enum(runStates),
        stateVersion: z.number().int(),
        light: z.enum(['green', 'amber', 'red', 'grey']).openapi({
          description:
            'green: delivered; amber: under way or to be tried again; red: given up, skipped, or never queued although the webhook wants it; grey: the webhook does not want it, or did not exist yet.',
        }),
        status: z.enum(deliveryStatuses).optional(),
        delivery: z.string().optional(),
        nextAttemptAt: z.number().int().optional().openapi({ description: 'While it waits for it.' }),
      }),
    ),
  })
  .openapi('ToldWebhook', {
    example: {
      webhook: exampleIds.webhook,
      host: 'receiver.example',
      enabled: true,
      complete: true,
      states: [
        {
          state: 'FINISHED',
          stateVersion: 10,
          light: 'green',
          status: 'delivered',
          delivery: exampleIds.delivery,
        },
      ],
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: `${runPath}/deliveries`,
  operationId: 'listRunDeliveries',
  tags: ['webhooks'],
  summary: 'Whether every state of a run reached every webhook of its stack',
  ...needs('reader'),
  request: { params: runParams },
  responses: {
    200: json(
      z.object({
        complete: z.boolean().openapi({ description: 'Of all webhooks.' }),
        webhooks: z.array(toldSchema),
      }),
      'Each webhook with each state so far, both oldest first.',
    ),
    ...problems,
  },
});

export function runDeliveryRoutes(parts: {
  readonly guard: Guard;
  readonly runs: Pick<RunStore, 'events'>;
  readonly runDeliveries: RunDeliveries;
}): Api {
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const { run } = await parts.guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const changes = await parts.runs.events(run.id);
    const { id, stackKey, type } = run;
    const told = await parts.runDeliveries.of({ id, stackKey, type, changes });
    return c.json(
      { complete: told.every(({ isComplete }) => isComplete), webhooks: told.map(toldObject) },
      200,
    );
  });

  return api;
}

function toldObject({ webhook, states, isComplete }: ToldWebhook): z.infer<typeof toldSchema> {
  return {
    webhook: webhook.id,
    host: new URL(webhook.url).host,
    enabled: webhook.enabled,
    complete: isComplete,
    states: states.map(({ state, stateVersion, light, status, deliveryId, nextAttemptAtMs }) => ({
      state,
      stateVersion,
      light,
      ...(status === null ? {} : { status }),
      ...(deliveryId === null ? {} : { delivery: deliveryId }),
      ...(nextAttemptAtMs === null ? {} : { nextAttemptAt: toUnixSeconds(nextAttemptAtMs) }),
    })),
  };
}
