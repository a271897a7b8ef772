import { readPlan } from '../../../src/vendors/pulumi/readings.ts';
import { outputsOf, recording } from '../../vendors/pulumi/recordings.ts';

export const unknown = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
export const stackUrn = 'urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev';

/** One step in the shape of the specification; what is null is not there. */
export function step(
  op: string,
  name: string,
  old: unknown,
  now: unknown,
  change: { type?: string; parent?: string; outputs?: readonly [unknown, unknown] } = {},
) {
  const { type = 'aws:s3/bucket:Bucket', parent = stackUrn, outputs = [{}, {}] } = change;
  const urn = urnOf(name, type);
  const state = (inputs: unknown, given: unknown) => {
    if (inputs === null) return null;
    return { custom: false, id: '', inputs, outputs: given, parent, provider: '', type, urn };
  };
  return { op, provider: '', type, urn, old: state(old, outputs[0]), new: state(now, outputs[1]) };
}

export const urnOf = (name: string, type = 'aws:s3/bucket:Bucket'): string =>
  `urn:pulumi:dev::shop::${type}::${name}`;

/** The stack itself, which every plan has and which stays. */
export const stackStep = {
  ...{ op: 'same', provider: '', type: 'pulumi:pulumi:Stack', urn: stackUrn },
  old: { inputs: {}, outputs: {}, parent: '' },
  new: { inputs: {}, outputs: {}, parent: '' },
};

/** What the real tool planned. */
export async function recordedPlan(name: string) {
  const one = recording(name);
  const plan = await readPlan(outputsOf(one), one.argv[1] === 'destroy' ? 'destroy' : 'apply');
  if (plan.kind !== 'planned') throw new Error(`${name}: ${plan.message}`);
  return plan;
}
