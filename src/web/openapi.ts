import { createRoute, z } from '@hono/zod-openapi';
import { registerOutgoingWebhook } from './api/outgoing-webhook.ts';
import type { Api } from './api.ts';

export const openapiRoute = createRoute({
  method: 'get',
  path: '/api/v1/openapi.json',
  tags: ['status'],
  summary: 'This document',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      content: { 'application/json': { schema: z.record(z.string(), z.unknown()) } },
    },
  },
});

/** The document of everything that is routed, made from the schemas that validate. Made once: it does not change. */
export function openapiDocument(api: Api, version: string): Record<string, unknown> {
  api.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  registerOutgoingWebhook(api);
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version,
      description:
        'Runs of infrastructure stacks. Times are integer Unix seconds, except fields that end in `Ms`.',
    },
  });
  return JSON.parse(JSON.stringify(document, withoutFlags));
}

/** The generator leaves the flags of a regular expression in its pattern, which then fits nothing. */
function withoutFlags(key: string, value: unknown): unknown {
  return key === 'pattern' && typeof value === 'string' ? value.replace(/(?<!\\)\/[a-z]+$/, '') : value;
}
