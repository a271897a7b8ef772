import type { Guards } from '../runs/approvals/guards.ts';
import type { Policy } from './policy.ts';
import type { PolicyStore } from './policy-store.ts';

/** Another version of a policy has to judge anew. */
export const guardOf = ({ id, version }: Pick<Policy, 'id' | 'version'>): string => `${id} ${version}`;

/** The approval policies of stacks. */
export function createGuards(policies: Pick<PolicyStore, 'ofStack'>): Guards {
  return {
    guardsOf: async (stackKey, tx) => (await policies.ofStack(stackKey, 'APPROVAL', tx)).map(guardOf),
  };
}
