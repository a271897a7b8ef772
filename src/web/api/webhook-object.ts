import { z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import { attemptForReaders } from '../../webhooks/attempt-view.ts';
import type { Delivery } from '../../webhooks/delivery-store.ts';
import type { Webhook, WebhookSummary } from '../../webhooks/webhook.ts';

/** The webhook object of lists: without its secret. */
export const webhookSummarySchema = z
  .object({
    id: z.string(),
    endpoint: z.string(),
    enabled: z.boolean(),
    createdAt: z.number().int(),
    disabledReason: z
      .string()
      .optional()
      .openapi({ description: 'Why the server disabled it; absent when a person did.' }),
  })
  .openapi('WebhookSummary');

export const webhookSchema = webhookSummarySchema
  .extend({ secret: z.string().nullable() })
  .openapi('Webhook');

export const deliverySchema = z
  .object({
    id: z.string(),
    webhook: z.string(),
    run: z.string(),
    stateVersion: z.number().int(),
    status: z.enum(['pending', 'delivered', 'failed', 'exhausted', 'skipped']),
    createdAt: z.number().int(),
    nextAttemptAt: z.number().int().optional(),
    attempts: z.array(
      z.object({
        number: z.number().int(),
        at: z.number().int(),
        outcome: z.enum(['started', 'delivered', 'failed', 'blocked', 'unknown']),
        durationMs: z
          .number()
          .int()
          .optional()
          .openapi({ description: 'Without a statusCode for administrators of the stack only.' }),
        statusCode: z.number().int().optional(),
        error: z.string().optional().openapi({
          description:
            'The kind of failure, one word. Without a statusCode it is "no-answer", and "blocked" reads "failed", for all but administrators of the stack.',
        }),
        detail: z.string().optional().openapi({ description: 'For administrators of the stack only.' }),
      }),
    ),
  })
  .openapi('Delivery');

export function webhookSummary(webhook: WebhookSummary): z.infer<typeof webhookSummarySchema> {
  const { id, endpoint, enabled, createdAtMs, disabledReason } = webhook;
  return {
    id,
    endpoint,
    enabled,
    createdAt: toUnixSeconds(createdAtMs),
    ...(disabledReason === null ? {} : { disabledReason }),
  };
}

export function webhookObject(webhook: Webhook): z.infer<typeof webhookSchema> {
  return { ...webhookSummary(webhook), secret: webhook.secret };
}

/** Only administrators see what the network around the server is like. */
export function deliveryObject(delivery: Delivery, isAdmin: boolean): z.infer<typeof deliverySchema> {
  const { nextAttemptAtMs } = delivery;
  const attempts = isAdmin ? delivery.attempts : delivery.attempts.map(attemptForReaders);
  return {
    id: delivery.id,
    webhook: delivery.webhookId,
    run: delivery.runId,
    stateVersion: delivery.stateVersion,
    status: delivery.status,
    createdAt: toUnixSeconds(delivery.createdAtMs),
    ...(nextAttemptAtMs === null ? {} : { nextAttemptAt: toUnixSeconds(nextAttemptAtMs) }),
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      at: toUnixSeconds(attempt.startedAtMs),
      outcome: attempt.outcome,
      ...(attempt.durationMs === null ? {} : { durationMs: attempt.durationMs }),
      ...(attempt.statusCode === null ? {} : { statusCode: attempt.statusCode }),
      ...(attempt.error === null ? {} : { error: attempt.error }),
      ...(attempt.detail === null ? {} : { detail: attempt.detail }),
    })),
  };
}
