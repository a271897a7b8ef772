import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import type { Policies } from '../../policies/policies.ts';
import type { Policy, PolicySource } from '../../policies/policy.ts';
import type { SampleStore } from '../../policies/policy-store.ts';
import type { SimulatedRun, Workbench } from '../../policies/workbench.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { notFound } from '../problem.ts';
import { exampleIds } from './examples.ts';
import type { Guard } from './guard.ts';
import { policyExample, simulationExample } from './policy-examples.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { regoVersionSchema, simulationObject, simulationSchema } from './policy-object.ts';
import {
  anyObject,
  json,
  jsonBody,
  needsPolicyAdmin,
  policyParams,
  policyPath,
  problems,
  refuses,
} from './route-parts.ts';

const tags = ['policies'];

const edit = {
  body: z.string().optional().openapi({ description: 'In place of the one that is saved.' }),
  regoVersion: regoVersionSchema.optional(),
};
const id = z.string().min(1).max(200).optional();

const simulationInput = z
  .strictObject({
    input: anyObject.optional().openapi({ description: 'What it judges, as docs/policies.md has it.' }),
    sample: id.openapi({ description: 'Id of a kept input of a policy of the same kind and account.' }),
    run: id.openapi({ description: 'For PLAN policies: the plan of that run.' }),
    ...edit,
  })
  .refine(
    ({ input, sample, run }) => [input, sample, run].filter((given) => given !== undefined).length === 1,
    'give one of input, sample and run',
  )
  .openapi('NewSimulation', { example: { input: { pulumi: { steps: [] } }, body: policyExample.body } });

const simulateRoute = createRoute({
  method: 'post',
  path: `${policyPath}/simulate`,
  operationId: 'simulatePolicy',
  tags,
  summary: 'What a policy, as it is saved or edited, says of an input; nothing is recorded',
  ...needsPolicyAdmin,
  ...refuses('policy-invalid', 'policy-engine-unavailable'),
  'x-audited': false,
  request: { params: policyParams, ...jsonBody(simulationInput) },
  responses: { 200: json(simulationSchema, 'What it says.'), ...problems },
});

const maxRuns = 50;

export const simulatedRunSchema = simulationSchema
  .extend({
    run: z.string(),
    stack: z.object({ account: z.string(), id: z.string() }),
    recorded: z.string().nullable().openapi({
      description: 'What it said of the run then, in the version of then; null: it was not asked.',
    }),
  })
  .openapi('SimulatedRun', {
    example: {
      ...{ run: exampleIds.run, stack: { account: 'acme', id: 'network-prod' } },
      ...{ ...simulationExample, recorded: 'passed' },
    },
  });

const simulateRunsRoute = createRoute({
  method: 'post',
  path: `${policyPath}/simulate-runs`,
  operationId: 'simulatePolicyOnRuns',
  tags,
  summary: 'What a PLAN policy would have said of the newest plans of the stacks that it judges',
  ...needsPolicyAdmin,
  ...refuses('policy-invalid', 'policy-engine-unavailable'),
  'x-audited': false,
  request: {
    params: policyParams,
    ...jsonBody(
      z
        .strictObject({ last: z.number().int().min(1).max(maxRuns).default(10), ...edit })
        .openapi('NewRunSimulation', { example: { last: 10, body: policyExample.body } }),
    ),
  },
  responses: {
    200: json(z.object({ items: z.array(simulatedRunSchema) }), 'The newest first.'),
    ...problems,
  },
});

/** Whoever tries a policy out sees inputs: for those who manage it. */
export function policySimulationRoutes(parts: {
  readonly policies: Pick<Policies, 'find'>;
  readonly policyGuard: PolicyGuard;
  readonly guard: Guard;
  readonly samples: Pick<SampleStore, 'find' | 'input'>;
  readonly workbench: Workbench;
}): Api {
  const { policies, policyGuard, guard, samples, workbench } = parts;
  const api = newApi();

  api.openapi(simulateRoute, async (c) => {
    const { actor } = c.var;
    const policy = await policyGuard.managed(actor, c.req.valid('param').policy);
    const { input, sample, run, ...given } = c.req.valid('json');
    const judged =
      sample === undefined
        ? run === undefined
          ? input
          : await inputOfRun(actor, policy, run)
        : await inputOfSample(policy, sample);
    const options = { edit: editOf(given), signal: c.req.raw.signal };
    return c.json(simulationObject(await workbench.simulate(policy, judged, options)), 200);
  });

  api.openapi(simulateRunsRoute, async (c) => {
    const policy = await policyGuard.managed(c.var.actor, c.req.valid('param').policy);
    requirePlanPolicy(policy, '');
    const { last, ...given } = c.req.valid('json');
    const options = { last, edit: editOf(given), signal: c.req.raw.signal };
    const simulated = await workbench.simulateRuns(policy, options);
    return c.json({ items: simulated.map(simulatedRunObject) }, 200);
  });

  return api;

  async function inputOfSample(policy: Policy, sampleId: string): Promise<unknown> {
    const sample = await samples.find(sampleId);
    const of = sample && (await policies.find(sample.policyId));
    const fits = of?.kind === policy.kind && of.account?.id === policy.account?.id;
    const text = fits ? await samples.input(sampleId) : null;
    if (text === null) throw notFound();
    return JSON.parse(text);
  }

  async function inputOfRun(actor: Actor, policy: Policy, runId: string): Promise<unknown> {
    requirePlanPolicy(policy, 'run');
    const { run, stack } = await guard.run(actor, runId, 'reader');
    if (stack.account.toLowerCase() !== policy.account?.login.toLowerCase()) throw notFound();
    const input = await workbench.planInput(run, stack);
    if (input === null) throw wrong('run', 'the run has no plan, or it is not kept any more');
    return input;
  }
}

function requirePlanPolicy({ kind }: Policy, path: string): void {
  if (kind !== 'PLAN')
    throw wrong(path, `only PLAN policies judge what runs have kept; this is one for ${kind}`);
}

function wrong(path: string, message: string): UserError {
  const text = path === '' ? message : `${path}: ${message}`;
  return new UserError('invalid-input', text, { issues: [{ path, message }] });
}

function editOf({ body, regoVersion }: { body?: string | undefined; regoVersion?: 0 | 1 | undefined }) {
  const edited: Partial<PolicySource> = {
    ...(body !== undefined && { body }),
    ...(regoVersion !== undefined && { regoVersion }),
  };
  return edited;
}

function simulatedRunObject({ run, stack, recorded, judgement }: SimulatedRun) {
  return {
    run: run.id,
    stack: { account: stack.account, id: stack.id },
    recorded,
    ...simulationObject(judgement),
  };
}
