import { z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import type { JSONValue } from 'hono/utils/types';
import type { roles } from '../../access/actor.ts';
import { runStates } from '../../runs/run.ts';
import { type ProblemCode, problemCodes } from '../problem.ts';

/** The pieces that the routes of the API are declared with; the OpenAPI document is made of them. */

export const stackPath = '/api/v1/stacks/{account}/{stack}';
export const runPath = '/api/v1/runs/{run}';
export const policyPath = '/api/v1/policies/{policy}';

const segment = (description: string, example: string) =>
  z.string().min(1).max(200).openapi({ description, example });

export const stackParams = z.object({
  account: segment("Login of the repository's owner.", 'acme'),
  stack: segment('Id of the stack.', 'network-prod'),
});
export const policyParams = z.object({ policy: segment('Id of the policy.', '01JD4R7K9M1P3Q5S7T9V2W4X6Y') });
export const runParams = z.object({ run: segment('Id of the run.', '01JD4Z0P6V3Q8N5T2W7X9Y1B4C') });

const problemSchema = z
  .looseObject({
    code: z.enum(problemCodes).openapi({ description: 'What went wrong, for programs.' }),
    title: z.string().openapi({ description: 'The status in words.' }),
    status: z.number().int(),
    detail: z.string().openapi({ description: 'What went wrong, for people.' }),
    hint: z.string().optional().openapi({ description: 'What to do about it.' }),
    errors: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          line: z.number().int().optional().openapi({ description: 'In the text of the field, from 1.' }),
          column: z.number().int().optional(),
        }),
      )
      .optional()
      .openapi({ description: 'The fields or parameters that are wrong.' }),
    state: z.enum(runStates).optional().openapi({ description: 'state-conflict: where the run is now.' }),
    stateVersion: z.number().int().optional().openapi({ description: 'state-conflict: its version now.' }),
    holder: z.string().optional().openapi({ description: 'locked: who holds the lock.' }),
    replay: z.string().optional().openapi({ description: 'replay-running: its id.' }),
    errorId: z
      .string()
      .optional()
      .openapi({ description: "internal-error: where the server's log has more." }),
  })
  .openapi('Problem', {
    description: 'An error, as in RFC 9457.',
    example: {
      code: 'invalid-input',
      title: 'Unprocessable Entity',
      status: 422,
      detail: 'limit: Too big: expected number to be <=200',
      errors: [{ path: 'limit', message: 'Too big: expected number to be <=200' }],
    },
  });

/** Stands for the problems that openapi-problems.ts works out for the route, and those of `refuses`. */
export const problems = {
  default: {
    description: 'Any error.',
    content: { 'application/problem+json': { schema: problemSchema } },
  },
};

/** What this route can be answered with beside what follows from its method, parameters and rights. */
export function refuses(...codes: ProblemCode[]) {
  return { 'x-refuses': codes };
}

export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

export const anyObject = z.record(z.string(), z.unknown());

/** An answer that is JSON already, and must stay as it is to the byte; the router's types know JSON only as values. */
export function jsonBytes(bytes: Uint8Array) {
  const response = new Response(Buffer.from(bytes), { headers: { 'content-type': 'application/json' } });
  return response as Response & TypedResponse<Record<string, JSONValue>, 200, 'json'>;
}

export function jsonBody<T extends z.ZodType>(schema: T) {
  return { body: { required: true, content: { 'application/json': { schema } } } };
}

/** A body that may be left out; it then counts as `{}`: request-body.ts sees to it. */
export function optionalJsonBody<T extends z.ZodType>(schema: T, example?: object) {
  const content = { 'application/json': { schema, ...(example ? { example } : {}) } };
  return { body: { required: false, content } };
}

/** Of requests that make something: gates/idempotency.ts goes by it. */
export const idempotencyHeader = z.object({
  'idempotency-key': z.string().min(1).max(255).optional().openapi({
    pattern: '^[\\x21-\\x7e]+$',
    description: 'Of equal requests with the same key, within 24 hours, one is carried out.',
  }),
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
export function needs(role: (typeof roles)[number] | 'any' | 'account-admin') {
  const description =
    role === 'any' ? 'Needs a token; shows what it may read.' : `Needs the role ${role} on the stack.`;
  return { security: [{ bearer: [] }], description, 'x-needs': role };
}

/** As `needs`, for policies: they belong to accounts. */
export const needsPolicyReader = {
  ...needs('reader'),
  description: 'Needs the role reader on a stack that it judges, or an administrator of its account.',
};

export const needsPolicyAdmin = {
  ...needs('account-admin'),
  description:
    'Needs an administrator of the account: of the instance, or an admin token of the account. For policies of kind LOGIN ' +
    'and NOTIFICATION an administrator of the instance.',
};
