import { actorKey } from '../../access/actor.ts';
import { mayUnlock } from '../../stacks/may-unlock.ts';
import { isLockedFor, type Stack, type StackLock, showsDetails } from '../../stacks/stack.ts';
import type { Stacks } from '../../stacks/stacks.ts';
import type { ShownLock } from '../conversation.ts';
import { type Prepare, refused } from './act.ts';
import { endOfSecondMs } from './comment.ts';

export function createLock({ stacks }: { stacks: Pick<Stacks, 'lock'> }): Prepare {
  return (_, { comment: { actor, pullRequest } }) =>
    Promise.resolve(async (tx, stack) => {
      if (isLockedFor(stack.lock, actorKey(actor))) {
        return refused({ code: 'locked', ...shownLock(stack, stack.lock) });
      }
      await stacks.lock(stack, actor, `from #${pullRequest.pullRequest.number}`, tx);
      return { kind: 'locked' };
    });
}

export function createUnlock({ stacks }: { stacks: Pick<Stacks, 'unlock'> }): Prepare {
  return (_, { comment, role }) =>
    Promise.resolve(async (tx, stack) => {
      const { lock } = stack;
      if (!lock) return refused({ code: 'not-locked' });
      const shown = shownLock(stack, lock);
      if (!mayUnlock(lock, comment.actor, role)) return refused({ code: 'lock-not-yours', ...shown });
      // A lock says that something is wrong: one that nobody can have known of stays.
      if (lock.sinceMs >= endOfSecondMs(comment)) return refused({ code: 'locked-since', ...shown });
      await stacks.unlock(stack, tx);
      return { kind: 'unlocked' };
    });
}

export function shownLock(stack: Stack, { holder, reason }: StackLock): ShownLock {
  return showsDetails(stack) ? { holder, reason: reason || null } : { holder: null, reason: null };
}
