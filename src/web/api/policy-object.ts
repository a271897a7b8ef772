import { z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import type { EvaluationFailure } from '../../policies/engine.ts';
import type { Judgement, RecordedDecision } from '../../policies/judgement.ts';
import { type Policy, policyKinds } from '../../policies/policy.ts';
import type { PolicyVersion } from '../../policies/policy-store.ts';
import type { Stack } from '../../stacks/stack.ts';
import { decisionExample, policyExample, simulationExample } from './policy-examples.ts';
import { anyObject } from './route-parts.ts';

export const kindSchema = z.enum(policyKinds);
export const regoVersionSchema = z
  .union([z.literal(0), z.literal(1)])
  .openapi({ description: 'Version of the language; 1 is the present one.', example: 1 });

export const policySchema = z
  .object({
    id: z.string(),
    account: z.string().nullable().openapi({ description: 'Null: of the whole server (LOGIN).' }),
    name: z.string(),
    description: z.string(),
    kind: kindSchema,
    labels: z.array(z.string()),
    regoVersion: regoVersionSchema,
    body: z.string().openapi({ description: 'Rego of package `slipway`.' }),
    rules: z.array(z.string()).openapi({ description: 'Those that it declares and its kind reads.' }),
    version: z.number().int().openapi({ description: '1 for the first body, then +1 with every other.' }),
    digest: z.string().openapi({ description: 'Names body and version of the language, in hex.' }),
    createdAt: z.number().int(),
    updatedAt: z.number().int(),
    updatedBy: z.string(),
    hints: z
      .array(z.string())
      .optional()
      .openapi({ description: 'In answers to changes: what is allowed and yet most likely not meant.' }),
  })
  .openapi('Policy', { example: policyExample });

export function policyObject(policy: Policy, hints?: readonly string[]): z.infer<typeof policySchema> {
  const { id, account, name, description, kind, labels, regoVersion, body, rules, version, digest } = policy;
  return {
    ...{ id, account: account?.login ?? null, name, description, kind, labels: [...labels] },
    ...{ regoVersion, body, rules: [...rules], version, digest },
    createdAt: toUnixSeconds(policy.createdAtMs),
    updatedAt: toUnixSeconds(policy.updatedAtMs),
    updatedBy: policy.updatedBy,
    ...(hints && { hints: [...hints] }),
  };
}

export const versionSchema = z
  .object({
    version: z.number().int(),
    regoVersion: regoVersionSchema,
    body: z.string(),
    rules: z.array(z.string()),
    digest: z.string(),
    createdAt: z.number().int(),
    createdBy: z.string(),
  })
  .openapi('PolicyVersion', {
    example: {
      ...{ version: 1, regoVersion: 1, body: policyExample.body, rules: policyExample.rules },
      ...{ digest: policyExample.digest, createdAt: policyExample.createdAt, createdBy: 'ada' },
    },
  });

export function versionObject(found: PolicyVersion): z.infer<typeof versionSchema> {
  const { version, regoVersion, body, rules, digest, createdAtMs, createdBy } = found;
  const createdAt = toUnixSeconds(createdAtMs);
  return { version, regoVersion, body, rules: [...rules], digest, createdAt, createdBy };
}

const failureSchema = z.object({
  code: z.string().openapi({
    description:
      'compile, builtin, conflict, undefined, wrong_type, timeout, memory, output, input, stopped, unavailable or engine.',
  }),
  message: z.string(),
  line: z.number().int().optional(),
  column: z.number().int().optional(),
});

/** What a policy said, without whose it was. */
const said = {
  outcome: z
    .string()
    .openapi({ description: 'By the kind of the policy, e.g. `denied`; `failed`: it could not be judged.' }),
  messages: z.array(z.string()),
  result: anyObject.openapi({
    description: 'Values of the rules, by name; a decision keeps 64 KiB of them.',
  }),
  failure: failureSchema.optional().openapi({ description: 'Why it failed.' }),
  durationMs: z.number(),
};

export const simulationSchema = z.object(said).openapi('Simulation', { example: simulationExample });

export function simulationObject(judgement: Said): z.infer<typeof simulationSchema> {
  const { outcome, messages, values, failure, durationMs } = judgement;
  return {
    ...{ outcome, messages: [...messages], result: values, durationMs },
    ...(failure && { failure: failureObject(failure) }),
  };
}

type Said = Pick<Judgement, 'outcome' | 'messages' | 'values' | 'failure' | 'durationMs'>;

function failureObject({ code, message, line, column }: EvaluationFailure): z.infer<typeof failureSchema> {
  return {
    ...{ code, message },
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}

export const decisionSchema = z
  .object({
    id: z.string(),
    at: z.number().int(),
    policy: z
      .object({
        id: z.string(),
        name: z.string(),
        version: z.number().int(),
        digest: z.string(),
        kind: kindSchema,
      })
      .openapi({ description: 'As it was then; it may be gone by now.' }),
    subject: z.string().openapi({ description: 'What was judged, in words.' }),
    run: z.string().optional(),
    stack: z.object({ account: z.string(), id: z.string() }).optional(),
    ...said,
    inputDigest: z.string().openapi({ description: 'SHA-256 of the input, in hex.' }),
    engine: z.string(),
  })
  .openapi('PolicyDecision', { example: decisionExample });

/** `stack`: that of the decision, as far as it is about one. */
export function decisionObject(
  decision: RecordedDecision,
  stack: Stack | null,
): z.infer<typeof decisionSchema> {
  const { id, policy, kind, subject, runId, inputDigest, engine, atMs } = decision;
  return {
    id,
    at: toUnixSeconds(atMs),
    policy: { ...policy, kind },
    subject,
    ...(runId === null ? {} : { run: runId }),
    ...(stack && { stack: { account: stack.account, id: stack.id } }),
    ...simulationObject(decision),
    ...{ inputDigest, engine },
  };
}
