import { z } from '@hono/zod-openapi';
import type { roles } from '../../access/actor.ts';

/** The pieces that the routes of the API are declared with; the OpenAPI document is made of them. */

export const stackPath = '/api/v1/stacks/{account}/{stack}';
export const runPath = '/api/v1/runs/{run}';

const segment = (description: string, example: string) =>
  z.string().min(1).max(200).openapi({ description, example });

export const stackParams = z.object({
  account: segment("Login of the repository's owner.", 'acme'),
  stack: segment('Id of the stack.', 'network-prod'),
});
export const runParams = z.object({ run: segment('Id of the run.', '01JD4Z0P6V3Q8N5T2W7X9Y1B4C') });

export const problemSchema = z
  .object({
    code: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    hint: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi('Problem');

export const problems = {
  default: {
    description: 'Any error, as in RFC 9457.',
    content: { 'application/problem+json': { schema: problemSchema } },
  },
};

export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

export function jsonBody<T extends z.ZodType>(schema: T) {
  return { body: { required: true, content: { 'application/json': { schema } } } };
}

/** A body that may be left out; it then counts as `{}`: request-body.ts sees to it. */
export function optionalJsonBody<T extends z.ZodType>(schema: T) {
  return { body: { required: false, content: { 'application/json': { schema } } } };
}

/** Of requests that make something: gates/idempotency.ts goes by it. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .openapi({ description: 'Of equal requests with the same key, within 24 hours, one is carried out.' }),
});

/** Of requests that change settings: they happen only while the settings are as they were loaded. */
export const ifMatchHeader = z.object({
  'if-match': z
    .string()
    .max(1000)
    .optional()
    .openapi({ description: 'The `ETag` of what you loaded: 412 when its settings were changed since.' }),
});

export const ifNoneMatchHeader = z.object({
  'if-none-match': z.string().max(1000).optional().openapi({ description: '304 for what you have already.' }),
});

export const notModified = { 304: { description: 'It is what you have already.' } };

/** An answer with an entity tag. */
export function tagged<T extends z.ZodType>(schema: T, description: string) {
  return { ...json(schema, description), headers: z.object({ etag: z.string() }) };
}

/** As `needs`, for what belongs to no stack. */
export const needsInstanceAdmin = {
  security: [{ bearer: [] }],
  description: 'Needs an administrator of the instance: ADMINS, or an admin token without an account.',
  'x-needs': 'instance',
};

/** What every authenticated route declares: the token, the role it takes, and its errors. */
export function needs(role: (typeof roles)[number] | 'any') {
  const description =
    role === 'any' ? 'Needs a token; shows what it may read.' : `Needs the role ${role} on the stack.`;
  return { security: [{ bearer: [] }], description, 'x-needs': role };
}
