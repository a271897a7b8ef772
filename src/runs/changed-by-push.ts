import type { Stack } from '../stacks/stack.ts';
import type { Push } from '../stacks/trigger.ts';
import type { Source } from './source.ts';

/** Stacks that follow one branch, and what the push changed for them; null when that is not known. */
export interface ChangedStacks {
  readonly stacks: readonly Stack[];
  readonly changedPaths: readonly string[] | null;
}

/**
 * What a push changed. Where its payload does not tell (a new branch, a forced push, lists at GitHub's limits) it is
 * asked: for the branch that a stack follows, what differs from before; for any other, what it has more than that one.
 * Rejects when GitHub cannot be asked: try again.
 */
export async function changedByPush(
  source: Pick<Source, 'changedPaths'>,
  stacks: readonly Stack[],
  push: Push,
): Promise<readonly ChangedStacks[]> {
  if (push.changedPaths !== null) return [{ stacks, changedPaths: push.changedPaths }];
  const groups: ChangedStacks[] = [];
  for (const [tracked, followers] of Map.groupBy(stacks, ({ settings }) => settings.branch)) {
    const changedPaths = await ask(tracked, followers);
    groups.push({ stacks: followers, changedPaths });
  }
  return groups;

  async function ask(tracked: string, [any]: readonly Stack[]): Promise<readonly string[] | null> {
    if (!any) return null;
    const since = (base: string, head: string) => source.changedPaths(any.repository, base, head);
    const { head, before, branch, isForced } = push;
    if (branch !== tracked) return since(tracked, head.hash);
    if (before === null) return null;
    const added = await since(before, head.hash);
    if (!isForced || added === null) return added;
    // What the branch has lost changes the stacks, too.
    const lost = await since(head.hash, before);
    return lost && [...new Set([...added, ...lost])];
  }
}
