import { createRoute, z } from '@hono/zod-openapi';
import type { TestDeliveries, TestResult } from '../../webhooks/test-delivery.ts';
import { type Api, newApi } from '../api.ts';
import { notFound, refuse } from '../problem.ts';
import { attemptSchema, exchangeObject, exchangeSchema, explanationSchema } from './attempt-object.ts';
import { exampleIds } from './examples.ts';
import { json, needs, problems, refuses } from './route-parts.ts';
import { webhookParams, webhookPath } from './webhook.ts';
import type { WebhookGuard } from './webhook-guard.ts';

const tags = ['webhooks'];
const phase = z.number().nullable();

export const testSchema = z
  .object({
    id: z.string().openapi({ description: 'Sent as X-Slipway-Delivery; there is no such delivery.' }),
    ok: z.boolean(),
    ...attemptSchema.pick({ statusCode: true, error: true, detail: true }).shape,
    outcome: z.enum(['delivered', 'failed', 'blocked', 'unknown']),
    explanation: explanationSchema.optional(),
    phases: z
      .object({ dnsMs: phase, connectMs: phase, tlsMs: phase, firstByteMs: phase, totalMs: z.number() })
      .openapi({ description: 'Null for what was not reached, or not needed.' }),
    certificate: z
      .object({
        expiresAt: z.number().int(),
        daysLeft: z.number().int(),
        warning: z.string().optional().openapi({ description: 'When it ends within 14 days.' }),
      })
      .optional(),
    exchange: exchangeSchema.optional(),
  })
  .openapi('WebhookTest', {
    example: {
      id: exampleIds.delivery,
      ok: true,
      outcome: 'delivered',
      statusCode: 204,
      phases: { dnsMs: 4, connectMs: 11, tlsMs: 25, firstByteMs: 60, totalMs: 61 },
    },
  });

const testRoute = createRoute({
  method: 'post',
  path: `${webhookPath}/test`,
  operationId: 'testWebhook',
  tags,
  summary: 'Send the latest state change of the stack once, now, marked as a test, and see what comes of it',
  ...needs('admin'),
  ...refuses('test-running'),
  request: { params: webhookParams },
  responses: { 202: json(testSchema, 'What came of it.'), ...problems },
});

export function webhookTestRoutes(parts: {
  readonly webhookGuard: WebhookGuard;
  readonly webhookTests: TestDeliveries;
}): Api {
  const api = newApi();

  api.openapi(testRoute, async (c) => {
    const id = c.req.valid('param').webhook;
    const stack = await parts.webhookGuard.stackOf(c.var.actor, id, 'admin');
    const result = await parts.webhookTests.send(id, stack);
    if (result === 'missing') throw notFound();
    if (result === 'busy') {
      refuse('test-running', { detail: 'The last test of this webhook is not over.', hint: 'Wait for it.' });
    }
    return c.json(testObject(result), 202);
  });

  return api;
}

function testObject(result: TestResult): z.infer<typeof testSchema> {
  const { id, ok, outcome, statusCode, error, detail, explanation, exchange, certificate } = result;
  const timings = exchange?.timingsMs;
  return {
    id,
    ok,
    outcome,
    ...(statusCode === null ? {} : { statusCode }),
    ...(error === null ? {} : { error }),
    ...(detail === null ? {} : { detail }),
    ...(explanation === null ? {} : { explanation }),
    phases: {
      dnsMs: timings?.dns ?? null,
      connectMs: timings?.connect ?? null,
      tlsMs: timings?.tls ?? null,
      firstByteMs: timings?.firstByte ?? null,
      totalMs: timings?.total ?? result.durationMs,
    },
    ...(certificate === null ? {} : { certificate: certificateObject(certificate) }),
    ...(exchange === null ? {} : { exchange: exchangeObject(exchange) }),
  };
}

function certificateObject({ expiresAt, daysLeft, isEnding }: NonNullable<TestResult['certificate']>) {
  const warning = `The certificate of the receiver ends in ${daysLeft} days: renew it.`;
  return { expiresAt, daysLeft, ...(isEnding ? { warning } : {}) };
}
