import { z } from 'zod';
import { briefRun, request, run, commit as runCommit } from './run.ts';
import { stack } from './stack.ts';
import { terraformPlan } from './terraform-plan.ts';

/** Passed on by reference: a zod record would drop a key `__proto__`. */
const properties = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  .meta({ type: 'object' });

const state = z
  .object({
    custom: z.boolean().describe('A provider manages it; false for components and the stack itself.'),
    id: z.string().describe('Identifier at the provider; empty while there is none.'),
    inputs: properties.describe('Input properties. A secret is the text "[secret]".'),
    outputs: properties.describe('Output properties. A secret is the text "[secret]".'),
    parent: z.string().describe('URN of the parent resource.'),
    provider: z.string().describe('The provider.'),
    type: z.string().describe('Type of the resource.'),
    urn: z.string().describe('URN of the resource.'),
  })
  .nullable();

const ops = [
  'same',
  'refresh',
  'create',
  'update',
  'delete',
  'create-replacement',
  'delete-replaced',
] as const;

export const step = z.object({
  op: z.enum(ops).describe('What is to be done.'),
  provider: z.string().describe('The provider.'),
  type: z.string().describe('Type of the resource.'),
  urn: z.string().describe('URN of the resource.'),
  new: state.describe('After the step; null when nothing is left.'),
  old: state.describe('Before the step; null when there was nothing.'),
});

/** What Slipway itself says; the plan stands beside it, under the name of the tool. */
export const slipway = z
  .object({
    run,
    previous_run: briefRun
      .optional()
      .describe('The newest TRACKED run of the stack that has finished; absent when there is none.'),
    stack,
    commit: runCommit,
    request,
  })
  .describe('What Slipway knows of the run.');

export const thirdPartyMetadata = z
  .object({
    custom: properties.describe('What the `<name>.custom.slipway.json` files of the project say, by name.'),
  })
  .describe('What other tools have said.');

export const planInput = z.object({
  pulumi: z
    .object({ steps: z.array(step).describe('In the order of the tool.') })
    .optional()
    .describe('The plan of a Pulumi stack.'),
  terraform: terraformPlan.optional().describe('The plan of a stack of Terraform or OpenTofu.'),
  slipway,
  third_party_metadata: thirdPartyMetadata,
});
