import { createRoute, z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import type { Sample, SampleStore } from '../../policies/policy-store.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import { policyExampleIds, sampleExample } from './policy-examples.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { kindSchema } from './policy-object.ts';
import { anyObject, json, needsPolicyAdmin, policyParams, policyPath, problems } from './route-parts.ts';

const tags = ['policies'];

export const sampleSchema = z
  .object({
    id: z.string().openapi({ description: 'That of the decision.' }),
    at: z.number().int(),
    policy: z.string(),
    policyVersion: z.number().int(),
    kind: kindSchema,
    subject: z.string(),
    outcome: z.string(),
    run: z.string().optional(),
    stack: z.object({ account: z.string(), id: z.string() }).optional(),
  })
  .openapi('PolicySample', { example: sampleExample });

const listRoute = createRoute({
  method: 'get',
  path: `${policyPath}/samples`,
  operationId: 'listPolicySamples',
  tags,
  summary: 'Inputs that a policy asked to keep, newest first: 100 of an account at most, for 7 days',
  ...needsPolicyAdmin,
  request: { params: policyParams, query: wholeListQuery },
  responses: { 200: json(pageOf(sampleSchema), 'All of them, without the inputs.'), ...problems },
});

const showRoute = createRoute({
  method: 'get',
  path: '/api/v1/samples/{sample}',
  operationId: 'getPolicySample',
  tags,
  summary: 'One kept input',
  ...needsPolicyAdmin,
  request: {
    params: z.object({
      sample: z
        .string()
        .min(1)
        .max(200)
        .openapi({ description: 'Id of the sample.', example: policyExampleIds.decision }),
    }),
  },
  responses: {
    200: json(
      sampleSchema
        .extend({ input: anyObject.openapi({ description: 'What the policy saw.' }) })
        .openapi({ example: { ...sampleExample, input: { pulumi: { steps: [] } } } }),
      'The sample.',
    ),
    ...problems,
  },
});

export function policySampleRoutes(parts: {
  readonly samples: Pick<SampleStore, 'list' | 'find' | 'input'>;
  readonly policyGuard: PolicyGuard;
  readonly stackStore: Pick<StackStore, 'findAll'>;
}): Api {
  const { samples, policyGuard, stackStore } = parts;
  const api = newApi();

  async function shown(found: readonly Sample[]): Promise<z.infer<typeof sampleSchema>[]> {
    const keys = [...new Set(found.flatMap(({ stackKey }) => stackKey ?? []))];
    const stacks = new Map((await stackStore.findAll(keys)).map((stack) => [stack.key, stack]));
    return found.map((sample) => sampleObject(sample, stacks.get(sample.stackKey ?? '') ?? null));
  }

  api.openapi(listRoute, async (c) => {
    const { id } = await policyGuard.managed(c.var.actor, c.req.valid('param').policy);
    return c.json({ items: await shown(await samples.list(id)), nextCursor: null }, 200);
  });

  api.openapi(showRoute, async (c) => {
    const sample = await samples.find(c.req.valid('param').sample);
    if (!sample) throw notFound();
    await policyGuard.managed(c.var.actor, sample.policyId);
    const [text, [object]] = await Promise.all([samples.input(sample.id), shown([sample])]);
    if (text === null || !object) throw notFound();
    return c.json({ ...object, input: JSON.parse(text) as Record<string, unknown> }, 200);
  });

  return api;
}

function sampleObject(sample: Sample, stack: Stack | null): z.infer<typeof sampleSchema> {
  const { id, policyId, policyVersion, kind, subject, outcome, runId, atMs } = sample;
  return {
    ...{ id, at: toUnixSeconds(atMs), policy: policyId, policyVersion, kind, subject, outcome },
    ...(runId === null ? {} : { run: runId }),
    ...(stack && { stack: { account: stack.account, id: stack.id } }),
  };
}
