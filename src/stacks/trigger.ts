import { affectedBy, notAffected } from './affected.ts';
import { awayReason } from './away.ts';
import type { Commit } from './repository.ts';
import type { Stack } from './stack.ts';
import { isOfUntrustedBot } from './trust.ts';

/** A push as the product needs it; github/events/push.ts translates GitHub's. */
export interface Push {
  readonly repositoryId: number;
  readonly branch: string;
  readonly head: Commit;
  /** Where the branch was before; null when there was none. */
  readonly before: string | null;
  /** The branch was moved, not continued. */
  readonly isForced: boolean;
  /** E-mail address of the pusher; the noreply address when it is private. */
  readonly pusher: string;
  readonly pusherLogin: string;
  readonly pusherIsBot: boolean;
  /**
   * Paths that changed, from the repository's root. Null when GitHub's list cannot be trusted (forced, new
   * branch, at the limits of the payload) and nobody was asked yet, or could tell: then every stack counts as affected.
   */
  readonly changedPaths: readonly string[] | null;
  /** Ids of stacks that the repository file wants since this push, and that never ran. */
  readonly newStacks?: readonly string[];
  /** Where the branch is now, if that was asked: a push may come late, and those stacks are to start with the newest. */
  readonly headNow?: Commit;
}

export interface SelectedStack {
  readonly stack: Stack;
  readonly selected: true;
  readonly type: 'TRACKED' | 'PROPOSED';
  readonly reason: string;
  /** Its run gets no secrets. */
  readonly isUntrusted: boolean;
}

export interface LeftOutStack {
  readonly stack: Stack;
  readonly selected: false;
  readonly reason: string;
}

export type Selection = SelectedStack | LeftOutStack;

/** Of the run that a push starts for a stack, if any. */
export const typeOfPush = ({ settings }: Stack, { branch }: Pick<Push, 'branch'>): SelectedStack['type'] =>
  branch === settings.branch ? 'TRACKED' : 'PROPOSED';

/** Which stacks of the repository a push starts, and why or why not. */
export function selectStacks(stacks: readonly Stack[], push: Push): readonly Selection[] {
  const affects = affectedBy(push.changedPaths);
  return stacks.map((stack) => {
    const type = typeOfPush(stack, push);
    const away = awayReason(stack);
    if (away !== null) return { stack, selected: false, reason: away };
    const isNew = type === 'TRACKED' && push.newStacks?.includes(stack.id);
    const reason = affects(stack) ?? (isNew ? 'the repository file has added the stack' : null);
    if (reason === null) return { stack, selected: false, reason: notAffected };
    return { stack, selected: true, type, reason, isUntrusted: isUntrustedPush(stack, type, push) };
  });
}

/** Whoever may push to the tracked branch decides what the stack runs anyway: its commits are trusted. */
export function isUntrustedPush({ settings }: Stack, type: 'TRACKED' | 'PROPOSED', push: Push): boolean {
  return type === 'PROPOSED' && push.pusherIsBot && isOfUntrustedBot(settings, [push.pusherLogin]);
}
