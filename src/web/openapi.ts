import { createRoute } from '@hono/zod-openapi';
import type { VendorForm, VendorSettingsSchema } from '../stacks/vendor-settings.ts';
import { registerOutgoingWebhook } from './api/outgoing-webhook.ts';
import { anyObject } from './api/route-parts.ts';
import { vendorSettingsComponent, vendorSettingsName } from './api/vendor-settings-schema.ts';
import type { Api } from './api.ts';
import { type Content, withExamples } from './openapi-examples.ts';
import { type Operation, withProblems } from './openapi-problems.ts';
import { formTokenHeader } from './ui/browser-session.ts';

export const openapiRoute = createRoute({
  method: 'get',
  path: '/api/v1/openapi.json',
  operationId: 'getDocument',
  tags: ['status'],
  summary: 'This document',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      content: { 'application/json': { schema: anyObject.openapi({ example: { openapi: '3.1.0' } }) } },
    },
  },
});

const description = `Runs of infrastructure stacks.

Times are integer Unix seconds, except fields that end in \`Ms\`. Lists are \`{items, nextCursor}\`; cursors are opaque. What
the caller may not see is 404, what it may see but not do is 403. Errors are problems (RFC 9457) with a \`code\`; the
description of an answer names the codes that it can have. An unknown field or query parameter is an error.`;

const tags = [
  { name: 'stacks', description: 'What is deployed from a directory of a repository, and how.' },
  { name: 'environment', description: 'Variables that the runs of a stack see.' },
  { name: 'runs', description: 'What happened and happens to a stack; what people decide about it.' },
  { name: 'policies', description: 'Rules that judge runs and logins, and what they said.' },
  { name: 'webhooks', description: 'Who hears of state changes, and what became of each delivery.' },
  { name: 'access', description: 'Tokens, and who did what.' },
  { name: 'github', description: 'What GitHub delivers.' },
  { name: 'modules', description: 'What the specification has for other tools only.' },
  { name: 'status', description: 'How the server is.' },
];

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token of `slipway token create`.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-slipway',
    description: 'A person who logged in with the browser. Over plain http the name is `slipway`.',
  },
  formToken: {
    type: 'apiKey',
    in: 'header',
    name: formTokenHeader,
    description: 'Beside a session, for what changes something: shows that a page of this server sends it.',
  },
} as const;

export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** The document of everything that is routed, made from the schemas that validate. Made once: it does not change. */
export function openapiDocument(
  api: Api,
  {
    version,
    vendors,
  }: { readonly version: string; readonly vendors: readonly (VendorForm & VendorSettingsSchema)[] },
): OpenapiDocument {
  for (const [name, scheme] of Object.entries(securitySchemes)) {
    api.openAPIRegistry.registerComponent('securitySchemes', name, scheme);
  }
  registerOutgoingWebhook(api);
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version,
      description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The server that gave this document.' }],
    tags,
  });
  const { paths, components, ...rest }: OpenapiDocument = JSON.parse(JSON.stringify(document), corrected);
  const schemas = { ...components.schemas, [vendorSettingsName]: vendorSettingsComponent(vendors) };
  return {
    ...rest,
    components: { ...components, schemas },
    paths: mapValues(paths, (methods, path) =>
      mapValues(methods, (operation, method) => completed(operation, { path, method, schemas })),
    ),
  };
}

function completed(
  operation: Operation,
  { path, method, schemas }: { path: string; method: string; schemas: Readonly<Record<string, object>> },
): Operation {
  const { requestBody, responses } = operation;
  const exemplified = <T extends { readonly content?: Content }>(body: T): T =>
    body.content ? { ...body, content: withExamples(body.content, schemas) } : body;
  const shown = {
    ...operation,
    ...(requestBody ? { requestBody: exemplified(requestBody) } : {}),
    responses: mapValues(responses, (response, status) =>
      status.startsWith('2') ? exemplified(response) : response,
    ),
  };
  return withSession(method, withProblems(path, method, shown));
}

/** Whatever takes a token takes the session of a browser, too. */
function withSession(method: string, operation: Operation): Operation {
  if (!operation.security?.length) return operation;
  const session = method === 'get' ? { session: [] } : { session: [], formToken: [] };
  return { ...operation, security: [...operation.security, session] };
}

function mapValues<T, R>(
  object: Readonly<Record<string, T>>,
  map: (value: T, key: string) => R,
): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** What the generator gets wrong: flags of a regular expression in its pattern, and no null among the values of an enum that may be null. */
function corrected(key: string, value: unknown): unknown {
  if (key === 'pattern' && typeof value === 'string') return value.replace(/(?<!\\)\/[a-z]+$/, '');
  if (!isNullableEnum(value) || value.enum.includes(null)) return value;
  return { ...value, enum: [...value.enum, null] };
}

function isNullableEnum(value: unknown): value is { readonly enum: readonly unknown[] } {
  if (typeof value !== 'object' || value === null || !('enum' in value) || !('type' in value)) return false;
  return Array.isArray(value.enum) && Array.isArray(value.type) && value.type.includes('null');
}
