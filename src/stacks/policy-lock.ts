import type { PolicyLockWish } from './push-judge.ts';
import type { StackLock } from './stack.ts';

/** No person and no token has a key like this. */
const keyOf = (key: string): string => `policy:${key}`;

export interface ChangedLock {
  /** As it is now. */
  readonly lock: StackLock | null;
  readonly isChanged: boolean;
  /** Who holds the lock that a policy wants; null when it has it, or wants none. */
  readonly heldBy: string | null;
}

/**
 * Push policies lock and unlock by keys: a lock is taken while there is none, and goes only by its own key, or by
 * people: it belongs to nobody, so everybody who may start runs may take it away. First unlocks, then locks. Pure.
 */
export function changeLock(
  now: StackLock | null,
  wish: { readonly lock: PolicyLockWish | null; readonly unlock: readonly string[] },
  nowMs: number,
): ChangedLock {
  const left = released(now, new Set(wish.unlock.map(keyOf)));
  const isChanged = left !== now;
  const { lock } = wish;
  if (lock === null) return { lock: left, isChanged, heldBy: null };
  const holderKey = keyOf(lock.key);
  if (left !== null) {
    const heldBy = left.holderKey === holderKey ? null : `${left.holder}: ${left.reason}`;
    return { lock: left, isChanged, heldBy };
  }
  const holder = `policy ${lock.policy}`;
  const taken = { holder, holderKey, kind: 'system', reason: lock.key, run: null, sinceMs: nowMs } as const;
  return { lock: taken, isChanged: true, heldBy: null };
}

/** Also from below the server's own lock, which stays. */
function released(now: StackLock | null, keys: ReadonlySet<string>): StackLock | null {
  if (now === null) return null;
  if (keys.has(now.holderKey)) return now.covers ?? null;
  if (!now.covers || !keys.has(now.covers.holderKey)) return now;
  const { covers: _, ...uncovered } = now;
  return uncovered;
}
