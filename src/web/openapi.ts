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

/** The methods that a path has, for 405: empty when there is no such path. */
export function methodsOf(document: object, pathname: string): string[] {
  const { paths } = document as { paths: Record<string, object> };
  return Object.entries(paths)
    .filter(([template]) => matches(template, pathname))
    .flatMap(([, operations]) => Object.keys(operations).map((method) => method.toUpperCase()));
}

/** The query parameters of an address that its route does not have. Empty when there is no such route. */
export function unknownParameters(document: object, method: string, url: URL): string[] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths)
    .filter(([template]) => matches(template, url.pathname))
    .flatMap(([, byMethod]) => byMethod[method.toLowerCase()] ?? []);
  if (operations.length === 0) return [];
  const known = operations.flatMap(({ parameters = [] }) =>
    parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
  );
  return [...new Set(url.searchParams.keys())].filter((name) => !known.includes(name));
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

function matches(template: string, pathname: string): boolean {
  const [wanted, given] = [template.split('/'), pathname.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith('{') ? given[index] !== '' : part === given[index]))
  );
}
