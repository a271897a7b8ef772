import { z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import { runStates } from '../../runs/run.ts';
import { attemptForReaders } from '../../webhooks/attempt-view.ts';
import type { Delivery, DeliveryStatus } from '../../webhooks/delivery-store.ts';
import { attemptObject, attemptSchema } from './attempt-object.ts';
import { deliveryExample } from './examples.ts';

export const deliveryStatuses = [
  'pending',
  'delivered',
  'failed',
  'exhausted',
  'skipped',
] as const satisfies readonly DeliveryStatus[];

export const deliverySchema = z
  .object({
    id: z.string(),
    webhook: z.string(),
    run: z.string(),
    stateVersion: z.number().int(),
    policy: z.object({ id: z.string(), name: z.string() }).optional().openapi({
      description:
        'The notification policy that sends it because of that state change, which it does not tell of.',
    }),
    state: z.enum(runStates).optional().openapi({ description: 'What the run became by it.' }),
    status: z.enum(deliveryStatuses),
    createdAt: z.number().int(),
    nextAttemptAt: z.number().int().optional(),
    attempts: z.array(attemptSchema),
  })
  .openapi('Delivery', { example: deliveryExample });

/** Only administrators see what the network around the server is like. */
export function deliveryObject(delivery: Delivery, isAdmin: boolean): z.infer<typeof deliverySchema> {
  const { nextAttemptAtMs } = delivery;
  const attempts = isAdmin ? delivery.attempts : delivery.attempts.map(attemptForReaders);
  return {
    id: delivery.id,
    webhook: delivery.webhookId,
    run: delivery.runId,
    stateVersion: delivery.stateVersion,
    ...(delivery.policy ? { policy: { ...delivery.policy } } : {}),
    ...(delivery.state === null ? {} : { state: delivery.state }),
    status: delivery.status,
    createdAt: toUnixSeconds(delivery.createdAtMs),
    ...(nextAttemptAtMs === null ? {} : { nextAttemptAt: toUnixSeconds(nextAttemptAtMs) }),
    attempts: attempts.map(attemptObject),
  };
}
