import type { DestroyedGroup, MergeGroup } from '../../runs/merge-groups.ts';
import { selectForMergeGroup } from '../../stacks/merge-group.ts';
import type { Stack } from '../../stacks/stack.ts';
import { createMergeGroupHandler } from '../events/merge-group.ts';
import type { Checkout } from './checkout.ts';
import { type Decision, lookUpPolicies, nothing } from './decision.ts';
import { changedOf } from './pull-request.ts';

/** By the handler of the server, with a clone in the place of GitHub. */
export async function simulateMergeGroup(
  payload: unknown,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Decision> {
  const requested: MergeGroup[] = [];
  const destroyed: DestroyedGroup[] = [];
  const handle = createMergeGroupHandler({
    repositories: { remember: () => Promise.resolve(true) },
    files: { beforePush: () => Promise.resolve(null) },
    mergeGroups: () => ({
      requested(group) {
        requested.push(group);
        return Promise.resolve([]);
      },
      destroyed(group) {
        destroyed.push(group);
        return Promise.resolve([]);
      },
    }),
  });
  const { state, note } = await handle({ deliveryId: 'simulated', payload });
  const [group] = requested;
  if (group) return decideGroup(group, stacks, checkout);
  const [gone] = destroyed;
  if (gone) return nothing('ignored', `previews of ${gone.branch} that are not over would end`);
  return nothing(state === 'failed' ? 'failed' : 'ignored', note);
}

export async function decideGroup(
  { base, onto, head, branch }: MergeGroup,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Decision> {
  const paths = await checkout.changedPaths(onto, head);
  return {
    outcome: 'decided',
    reason: null,
    stacks: selectForMergeGroup(stacks, base, paths).map((selection) => {
      const { stack, selected, reason } = selection;
      if (selected) return { stack: stack.id, selected, reason, type: 'PROPOSED', trusted: true };
      const neutral = selection.getsCheck ? '; it gets a neutral check' : '';
      return { stack: stack.id, selected, reason: `${reason}${neutral}` };
    }),
    changedPaths: changedOf(paths),
    command: null,
    notes: [
      `would be asked: whether ${head.slice(0, 7)} is still on ${branch}`,
      'would be looked up: whether the commit has a run already',
      lookUpPolicies,
    ],
  };
}
