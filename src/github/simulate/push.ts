import { changedByPush } from '../../runs/changed-by-push.ts';
import type { MergeGroup } from '../../runs/merge-groups.ts';
import type { Stack } from '../../stacks/stack.ts';
import { type Push, type Selection, selectStacks } from '../../stacks/trigger.ts';
import { createPushHandler } from '../events/push.ts';
import type { Checkout } from './checkout.ts';
import { type Decision, lookUpPolicies, nothing, type StackDecision } from './decision.ts';
import { decideGroup } from './merge-group.ts';

/** By the handler of the server, with a clone in the place of GitHub. */
export async function simulatePush(
  payload: unknown,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Decision> {
  const pushes: Push[] = [];
  const groups: MergeGroup[] = [];
  const handle = createPushHandler({
    repositories: { remember: () => Promise.resolve(true) },
    files: { beforePush: () => Promise.resolve(null) },
    onPush: (told) => {
      pushes.push(told);
      return Promise.resolve([]);
    },
    onMergeGroup(group) {
      groups.push(group);
      return Promise.resolve([]);
    },
  });
  const { state, note } = await handle({ deliveryId: 'simulated', payload });
  const [group] = groups;
  if (group) return decideGroup(group, stacks, checkout);
  const [push] = pushes;
  if (!push) return nothing(state === 'failed' ? 'failed' : 'ignored', note);
  const source = {
    changedPaths: (_: unknown, base: string, head: string) => checkout.changedPaths(base, head),
  };
  const changed = await changedByPush(source, stacks, push);
  const selections = changed.flatMap((each) =>
    selectStacks(each.stacks, { ...push, changedPaths: each.changedPaths }),
  );
  const isKnown = changed.every(({ changedPaths }) => changedPaths !== null);
  const paths = changed.flatMap(({ changedPaths }) => changedPaths ?? []);
  const asked = isKnown ? 'checkout' : 'unknown';
  return {
    outcome: 'decided',
    reason: null,
    stacks: selections.map(decisionOf),
    changedPaths: {
      from: push.changedPaths === null ? asked : 'payload',
      paths: [...new Set(paths)].toSorted(),
    },
    command: null,
    notes: [
      `would be asked: whether ${push.head.hash.slice(0, 7)} is still on ${push.branch}`,
      'would be looked up: whether the commit has a run already, and whether the repository file has just added a stack',
      lookUpPolicies,
    ],
  };
}

function decisionOf(selection: Selection): StackDecision {
  const { stack, selected, reason } = selection;
  if (!selected) return { stack: stack.id, selected, reason };
  return { stack: stack.id, selected, reason, type: selection.type, trusted: !selection.isUntrusted };
}
