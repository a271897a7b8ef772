import type { Repository } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Push } from '../stacks/trigger.ts';
import type { Tx } from '../tx.ts';

/** Where a branch was when all that follows from it was decided. */
export interface BranchHead {
  /** Null: there was no such branch. */
  readonly hash: string | null;
  readonly seenAtMs: number;
}

/** A branch that a stack follows, in a repository where the App can work. */
export interface TrackedBranch {
  readonly repository: Repository;
  readonly branch: string;
}

/** How far the branches that stacks follow were dealt with. Reads without `tx` see committed data. */
export interface BranchHeadStore {
  tracked(): Promise<readonly TrackedBranch[]>;
  find(repositoryId: number, branch: string, tx?: Tx): Promise<BranchHead | null>;
  save(tx: Tx, repositoryId: number, branch: string, head: BranchHead): Promise<void>;
  /** What no stack follows any more: followed again, it is as if it had never been. */
  forgetUntracked(tx: Tx): Promise<void>;
}

/**
 * Whether a push that was handled is the next one after what we know. One that is not came out of order, or another
 * was missed before it: then what is known stays, and the next look at the branch finds out.
 */
export function isNext(known: BranchHead | null, push: Pick<Push, 'before'>): boolean {
  return known === null || known.hash === push.before;
}

/** Whether the push is one of a branch that a stack follows, and all of them could act on it. */
export function isDealtWith(stacks: readonly Stack[], { branch }: Pick<Push, 'branch'>): boolean {
  const followers = stacks.filter(({ settings }) => settings.branch === branch);
  return followers.length > 0 && followers.every(({ away }) => away === undefined);
}

/**
 * What a look at a branch means. `wait`: a push may be under way. `gone` and `missed`: nobody told that the branch was
 * deleted, or moved.
 */
export type HeadVerdict = 'adopt' | 'unchanged' | 'wait' | 'gone' | 'missed';

/** GitHub tells of a push within seconds; a look between the two is no reason to act. */
export const settleMs = 60_000;

export function judgeHead(look: {
  readonly known: BranchHead | null;
  /** Null: there is no such branch. */
  readonly head: string | null;
  /** Since when looks have found this very head; null at the first. */
  readonly sinceMs: number | null;
  /** A push of the repository is told already, and not handled yet. */
  readonly isExpected: boolean;
  readonly nowMs: number;
}): HeadVerdict {
  const { known, head, sinceMs, isExpected, nowMs } = look;
  // Whoever makes a stack starts its first run.
  if (known === null) return 'adopt';
  if (known.hash === head) return 'unchanged';
  if (isExpected || sinceMs === null || nowMs - sinceMs < settleMs) return 'wait';
  return head === null ? 'gone' : 'missed';
}
