import { affectedBy, notAffected } from './affected.ts';
import { awayReason } from './away.ts';
import type { Stack } from './stack.ts';

export type MergeGroupSelection =
  | { readonly stack: Stack; readonly selected: true; readonly reason: string }
  /** `getsCheck`: a queue waits for it, although nothing has to be previewed. */
  | { readonly stack: Stack; readonly selected: false; readonly reason: string; readonly getsCheck: boolean };

/** Why a group for that branch is none of the stack's business, whatever it changes; null when it may be. */
export function reasonAgainstGroup(stack: Stack, base: string): string | null {
  const away = awayReason(stack);
  if (away !== null) return away;
  if (stack.settings.branch === base) return null;
  return `the merge group is for ${base}, the stack follows another branch`;
}

/** Which stacks of the repository a merge group previews. `changedPaths`: against `base`; null when not known. */
export function selectForMergeGroup(
  stacks: readonly Stack[],
  base: string,
  changedPaths: readonly string[] | null,
): readonly MergeGroupSelection[] {
  const affects = affectedBy(changedPaths);
  return stacks.map((stack) => {
    const against = reasonAgainstGroup(stack, base);
    if (against !== null) return { stack, selected: false, reason: against, getsCheck: false };
    const reason = affects(stack);
    if (reason !== null) return { stack, selected: true, reason };
    return { stack, selected: false, reason: notAffected, getsCheck: true };
  });
}
