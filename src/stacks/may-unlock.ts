import { type Actor, actorKey, type Role } from '../access/actor.ts';
import { includesRole } from '../access/roles.ts';
import { isLockedFor, type StackLock } from './stack.ts';

/**
 * Of who may start runs of the stack. A lock that the server set after a lost apply belongs to nobody: each of them
 * may say that all is well.
 */
export function mayUnlock(lock: StackLock, actor: Actor, role: Role): boolean {
  return lock.kind === 'system' || !isLockedFor(lock, actorKey(actor)) || includesRole(role, 'admin');
}
