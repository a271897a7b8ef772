import type { Guards } from '../runs/approvals/guards.ts';
import { versionOf } from './policy.ts';
import type { PolicyStore } from './policy-store.ts';

/** The approval policies of stacks. */
export function createGuards(policies: Pick<PolicyStore, 'ofStack'>): Guards {
  return {
    guardsOf: async (stackKey, tx) => (await policies.ofStack(stackKey, 'APPROVAL', tx)).map(versionOf),
  };
}
