import { z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import type { Stack } from '../../stacks/stack.ts';
import { attemptForReaders } from '../../webhooks/attempt-view.ts';
import { hiddenValue } from '../../webhooks/custom-headers.ts';
import type { Attempt, WebhookHealth } from '../../webhooks/delivery-store.ts';
import { fingerprintOf } from '../../webhooks/sending/signature.ts';
import { maxMissed } from '../../webhooks/standing.ts';
import type { Webhook, WebhookSummary } from '../../webhooks/webhook.ts';
import { attemptObject, attemptSchema } from './attempt-object.ts';
import { webhookExample } from './examples.ts';
import { filterObject, filterSchema } from './webhook-filter.ts';

const healthSchema = z
  .object({
    failingSince: z.number().int().optional().openapi({ description: 'Absent while it is only paused.' }),
    failedAttempts: z.number().int(),
    exhausted: z.number().int().openapi({ description: 'Deliveries that were given up.' }),
    lastError: z.string().optional().openapi({ description: 'For administrators of the stack only.' }),
    pausedUntil: z
      .number()
      .int()
      .optional()
      .openapi({ description: 'Nothing is sent before: the receiver asked for it.' }),
  })
  .openapi('WebhookHealth', { description: 'What failed since the last success; absent while it works.' });

/** The webhook object of lists: without its secret. */
export const webhookSummarySchema = z
  .object({
    id: z.string(),
    stack: z.object({ account: z.string(), id: z.string() }),
    endpoint: z.string(),
    enabled: z.boolean(),
    filter: filterSchema,
    headers: z
      .record(z.string(), z.literal(hiddenValue))
      .openapi({ description: 'Names of the headers that are added; values are write-only.' }),
    createdAt: z.number().int(),
    disabledAt: z.number().int().optional(),
    disabledReason: z
      .string()
      .optional()
      .openapi({ description: 'Why the server disabled it; absent when a person did.' }),
    health: healthSchema.optional(),
    lastAttempt: attemptSchema.omit({ exchange: true }).optional().openapi({
      description: 'Of the newest state change that was ever sent; absent before the first.',
    }),
  })
  .openapi('WebhookSummary', { example: webhookExample });

export const oldSecretsSchema = z
  .array(z.object({ fingerprint: z.string(), until: z.number().int() }))
  .openapi({ description: 'Replaced, and still used until then where the newest is refused; newest first.' });

export const webhookSchema = webhookSummarySchema
  .extend({
    secret: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'Null: none. Left out in answers to changes unless the server generated it.' }),
    secretFingerprint: z.string().optional().openapi({
      description: '`key:` and the first 8 digits of its SHA-256, in hex.',
      example: 'key:ba7816bf',
    }),
    oldSecrets: oldSecretsSchema,
    missed: z
      .number()
      .int()
      .optional()
      .openapi({
        description: `State changes it did not get since it was disabled or began to fail; ${maxMissed} stands for that many or more. Absent while it is enabled and works.`,
      }),
  })
  .openapi('Webhook', {
    example: { ...webhookExample, secretFingerprint: 'key:ba7816bf', oldSecrets: [] },
  });

/** Whose a webhook is and how it fares, as far as the caller may know. */
export interface ShownStanding {
  readonly stack: Pick<Stack, 'account' | 'id'>;
  readonly lastAttempt: Attempt | null;
  readonly health: WebhookHealth | null;
  readonly missed?: number | null;
  /** Why the last attempt failed tells what stands in the network: not for everybody who may read the stack. */
  readonly isAdmin: boolean;
}

export function webhookSummary(
  webhook: WebhookSummary,
  { stack, health, lastAttempt, isAdmin }: ShownStanding,
): z.infer<typeof webhookSummarySchema> {
  const { id, endpoint, enabled, createdAtMs, disabledAtMs, disabledReason } = webhook;
  return {
    id,
    stack: { account: stack.account, id: stack.id },
    endpoint,
    enabled,
    filter: filterObject(webhook.filter),
    headers: Object.fromEntries(webhook.headerNames.map((name) => [name, hiddenValue])),
    createdAt: toUnixSeconds(createdAtMs),
    ...(disabledAtMs === null ? {} : { disabledAt: toUnixSeconds(disabledAtMs) }),
    ...(disabledReason === null ? {} : { disabledReason }),
    ...(health === null ? {} : { health: healthObject(health, isAdmin) }),
    ...(lastAttempt && {
      lastAttempt: attemptObject(isAdmin ? lastAttempt : attemptForReaders(lastAttempt)),
    }),
  };
}

function healthObject(health: WebhookHealth, isAdmin: boolean): z.infer<typeof healthSchema> {
  const { failingSinceMs, failedAttempts, exhausted, lastError, pausedUntilMs } = health;
  const isFailing = failedAttempts > 0;
  return {
    ...(isFailing ? { failingSince: toUnixSeconds(failingSinceMs) } : {}),
    failedAttempts,
    exhausted,
    ...(isFailing && isAdmin ? { lastError } : {}),
    ...(pausedUntilMs === null ? {} : { pausedUntil: toUnixSeconds(pausedUntilMs) }),
  };
}

/** `shows`: a secret is told where it was asked for, not back to whoever has just set it. */
export function webhookObject(
  webhook: Webhook,
  standing: ShownStanding,
  shows: 'secret' | 'fingerprint',
): z.infer<typeof webhookSchema> {
  const { secret } = webhook;
  return {
    ...webhookSummary(webhook, standing),
    ...(shows === 'secret' || secret === null ? { secret } : {}),
    ...(secret === null ? {} : { secretFingerprint: fingerprintOf(secret) }),
    oldSecrets: oldSecretsObject(webhook),
    ...(typeof standing.missed === 'number' ? { missed: standing.missed } : {}),
  };
}

export function oldSecretsObject({ oldSecrets }: Webhook): z.infer<typeof oldSecretsSchema> {
  return oldSecrets.map(({ secret, untilMs }) => ({
    fingerprint: fingerprintOf(secret),
    until: toUnixSeconds(untilMs),
  }));
}
