import { isBlocking, type Run } from '../../../runs/run.ts';
import { type Stack, showsDetails } from '../../../stacks/stack.ts';
import type { StackView } from './rows.ts';

/** What there is to show of each stack. `runs` are those of the pull request, newest first. */
export function viewsOf(stacks: readonly Stack[], runs: readonly Run[]): readonly StackView[] {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const key = keyOf(run.stackKey, isBlocking(run.type));
    if (!newest.has(key)) newest.set(key, run);
  }
  return stacks.map((stack) => ({
    id: stack.id,
    showsDetails: showsDetails(stack),
    preview: newest.get(keyOf(stack.key, false)) ?? null,
    deploying: newest.get(keyOf(stack.key, true)) ?? null,
  }));
}

const keyOf = (stackKey: string, isDeploying: boolean): string => `${isDeploying} ${stackKey}`;
