import { z } from '@hono/zod-openapi';
import { payloadSchema } from '../../webhooks/payload-schema.ts';
import type { Api } from '../api.ts';

/** What Slipway sends, for the document of the API: receivers implement this, no route does. */

// Zod schemas made before `@hono/zod-openapi` was loaded cannot be named; a copy can.
const body = payloadSchema.clone().openapi('WebhookPayload');

const headers = z.object({
  'X-Signature': z
    .string()
    .regex(/^sha1=[0-9a-f]{40}$/)
    .describe(
      '`sha1=` and the HMAC-SHA1 of the raw body with the secret, in lower-case hex. Without a secret: keyed with the empty string.',
    ),
  'X-Signature-256': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/)
    .describe('`sha256=` and the HMAC-SHA256, the same way.'),
  'X-Slipway-Delivery': z
    .string()
    .describe(
      'Id of the delivery: the same on every attempt and every resend. A receiver handles each once.',
    ),
  'X-Slipway-Attempt': z
    .string()
    .regex(/^[1-9]\d*$/)
    .describe('Number of the attempt, from 1.'),
  'webhook-id': z.string().describe('The same as X-Slipway-Delivery (Standard Webhooks).'),
  'webhook-timestamp': z
    .string()
    .regex(/^\d+$/)
    .describe('Time of the attempt, in Unix seconds (Standard Webhooks).'),
  'webhook-signature': z
    .string()
    .regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/)
    .optional()
    .describe(
      'Base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, each behind `v1,`; several are separated by a space, and one that fits is enough (Standard Webhooks). Absent without a secret.',
    ),
  'User-Agent': z
    .string()
    .regex(/^Slipway\//)
    .describe('`Slipway/` and the version.'),
});

export function registerOutgoingWebhook(api: Api): void {
  api.openAPIRegistry.registerWebhook({
    method: 'post',
    path: 'runStateChanged',
    tags: ['webhooks'],
    summary: 'A run changed its state',
    description:
      'Sent to each enabled webhook of the stack. At least once, and maybe out of order: `stateVersion` orders the ' +
      'states of a run. Bodies are at most 256 KiB. Any answer but 2xx within 15 seconds is a failed attempt, and is ' +
      'followed by another: 13 over about three days. Redirects are not followed.',
    // Signed, not authorised.
    security: [],
    request: {
      headers,
      body: { required: true, content: { 'application/json': { schema: body } } },
    },
    responses: {
      '2XX': { description: 'Delivered. The body of the answer does not matter.' },
      410: { description: 'The receiver is gone: the webhook is disabled, and nothing more is sent to it.' },
      default: {
        description: 'The attempt failed and is repeated.',
        headers: z.object({
          'Retry-After': z
            .string()
            .optional()
            .describe('Seconds or a date: makes the wait for the next attempt longer, to 24 hours at most.'),
        }),
      },
    },
  });
}
