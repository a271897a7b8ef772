import type { Judgement } from '../judgement.ts';

/** A flag of a run, with the policy that set it: the flag stays until each that set it has reset it. */
export interface OwnedFlag {
  readonly policyId: string;
  readonly flag: string;
}

/** The flags of a run after a round of judgements: each policy resets its own first, then adds. By flag, then by policy. */
export function combineFlags(
  before: readonly OwnedFlag[],
  judgements: readonly Pick<Judgement, 'policy' | 'flags'>[],
): readonly OwnedFlag[] {
  const keyOf = ({ policyId, flag }: OwnedFlag): string => JSON.stringify([flag, policyId]);
  const flags = new Map(before.map((owned) => [keyOf(owned), owned]));
  for (const { policy, flags: said } of judgements) {
    const own = (flag: string): OwnedFlag => ({ policyId: policy.id, flag });
    for (const flag of said.reset) flags.delete(keyOf(own(flag)));
    for (const flag of said.add) flags.set(keyOf(own(flag)), own(flag));
  }
  return [...flags.keys()].toSorted().flatMap((key) => flags.get(key) ?? []);
}

/** As inputs and pages show them: each flag once. */
export const namesOf = (flags: readonly OwnedFlag[]): readonly string[] => [
  ...new Set(flags.map(({ flag }) => flag).toSorted()),
];
