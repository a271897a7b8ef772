import type { PlanStep } from '../../../src/worker/vendor-results.ts';

interface Change {
  readonly parent?: string;
  readonly type?: string;
  /** The address until now. */
  readonly from?: string;
}

/** A step of Terraform in the shape of the specification; what is null is not there. */
export function addressStep(
  op: PlanStep['op'],
  urn: string,
  old: Readonly<Record<string, unknown>> | null,
  now: Readonly<Record<string, unknown>> | null,
  { parent = '', type = 'terraform_data', from = urn }: Change = {},
): PlanStep {
  const provider = 'terraform.io/builtin/terraform';
  const state = (address: string, inputs: Readonly<Record<string, unknown>> | null) =>
    inputs && { custom: true, id: '', inputs, outputs: {}, parent, provider, type, urn: address };
  return { op, provider, type, urn, old: state(from, old), new: state(urn, now) };
}

/** What the program gives out. */
export function rootOutputs(
  old: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): PlanStep {
  const [type, urn] = ['terraform:outputs', 'outputs'];
  const state = (outputs: Readonly<Record<string, unknown>>) => ({
    ...{ custom: false, id: '', inputs: {}, outputs, parent: '', provider: '', type, urn },
  });
  return { op: 'same', provider: '', type, urn, old: state(old), new: state(now) };
}
