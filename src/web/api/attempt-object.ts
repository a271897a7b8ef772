import { z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import type { Attempt, AttemptExchange } from '../../webhooks/delivery-store.ts';
import { explain } from '../../webhooks/explanation.ts';

const timeMs = z.number().nullable();
const headers = z.record(z.string(), z.string());

export const explanationSchema = z
  .object({
    what: z.string().openapi({ description: 'What happened, in plain words.' }),
    advice: z.string().openapi({ description: 'What to do about it.' }),
  })
  .openapi('Explanation');

export const exchangeSchema = z
  .object({
    key: z.string().nullable().openapi({
      description: 'Fingerprint of the secret that signed: "key:" and 8 hex digits; null without one.',
    }),
    request: z.object({
      headers: headers.openapi({ description: 'As sent; values of custom headers are `***`.' }),
    }),
    response: z
      .object({
        headers,
        body: z.string().openapi({ description: 'At most 64 KiB.' }),
        bodyEncoding: z.enum(['utf8', 'base64']),
        bodyTruncated: z.boolean(),
        location: z.string().nullable().openapi({ description: 'Where a redirect leads; never followed.' }),
      })
      .nullable(),
    connection: z
      .object({
        address: z.string().openapi({ description: 'What was dialled.' }),
        port: z.number().int(),
        reused: z.boolean().openapi({ description: 'A connection of an earlier attempt.' }),
        tls: z
          .object({
            protocol: z.string(),
            validTo: z.number().int().nullable().openapi({
              description: 'Unix seconds: when the certificate of the receiver ends.',
            }),
          })
          .nullable(),
      })
      .nullable(),
    timingsMs: z
      .object({ dns: timeMs, connect: timeMs, tls: timeMs, firstByte: timeMs, total: z.number() })
      .openapi({ description: 'Null for what did not happen: a kept connection needs no name and no TLS.' }),
    resentAtOnce: z.boolean().openapi({
      description:
        'A kept connection broke before the answer, and the request went out once more on another.',
    }),
  })
  .openapi('Exchange');

export const attemptSchema = z.object({
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
  explanation: explanationSchema.optional(),
  exchange: exchangeSchema.optional().openapi({
    description: 'For administrators of the stack only, and not in lists.',
  }),
});

/** Says what it is given: for readers, attempt-view.ts comes first. */
export function attemptObject(attempt: Attempt): z.infer<typeof attemptSchema> {
  const explanation = explain(attempt);
  return {
    number: attempt.number,
    at: toUnixSeconds(attempt.startedAtMs),
    outcome: attempt.outcome,
    ...(attempt.durationMs === null ? {} : { durationMs: attempt.durationMs }),
    ...(attempt.statusCode === null ? {} : { statusCode: attempt.statusCode }),
    ...(attempt.error === null ? {} : { error: attempt.error }),
    ...(attempt.detail === null ? {} : { detail: attempt.detail }),
    ...(explanation === null ? {} : { explanation }),
    ...(attempt.exchange === null ? {} : { exchange: exchangeObject(attempt.exchange) }),
  };
}

export function exchangeObject(exchange: AttemptExchange): z.infer<typeof exchangeSchema> {
  const { request, response, connection, ...rest } = exchange;
  return {
    ...rest,
    request: { headers: { ...request.headers } },
    response: response && { ...response, headers: { ...response.headers } },
    connection,
  };
}
