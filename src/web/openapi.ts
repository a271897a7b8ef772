import { createRoute, z } from '@hono/zod-openapi';
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
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version,
      description:
        'Runs of infrastructure stacks. Times are integer Unix seconds, except fields that end in `Ms`.',
    },
  });
  return { ...document };
}

/** The methods that a path has, for 405: empty when there is no such path. */
export function methodsOf(document: object, pathname: string): string[] {
  const { paths } = document as { paths: Record<string, object> };
  return Object.entries(paths)
    .filter(([template]) => matches(template, pathname))
    .flatMap(([, operations]) => Object.keys(operations).map((method) => method.toUpperCase()));
}

function matches(template: string, pathname: string): boolean {
  const [wanted, given] = [template.split('/'), pathname.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith('{') ? given[index] !== '' : part === given[index]))
  );
}
