/**
 * The user a run's commands have on the host.
 *
 * An unprivileged server has no choice: its own. A root server gives each run a user of its own, so that
 * runs cannot exhaust each other's limits or read each other's files, and none is root (bwrap alone would map
 * the sandbox's user to root, where RLIMIT_NPROC counts for nothing).
 */
import { createHash } from 'node:crypto';

export interface UserRange {
  readonly first: number;
  readonly count: number;
}

/**
 * 0x70000000 and 2^27 up: what systemd's UIDS-GIDS.md leaves to nobody, behind the users it gives to containers. Two of
 * 100 runs at once share a user with a probability of 4 in 100,000.
 */
const unusedRange: UserRange = { first: 0x7000_0000, count: 0x0800_0000 };

/**
 * `uidMap` is the text of /proc/self/uid_map. Inside a container that maps only some users the range is the upper half
 * of the largest block. Null when there is no room for one.
 */
export function userRange(uidMap: string): UserRange | null {
  const blocks = uidMap
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }));
  const isMapped = blocks.some(
    ({ first, count }) =>
      first <= unusedRange.first && first + count >= unusedRange.first + unusedRange.count,
  );
  if (isMapped) return unusedRange;
  const largest = blocks.reduce((a, b) => (b.count > a.count ? b : a), { first: 0, count: 0 });
  const half = Math.floor(largest.count / 2);
  // Below 1,000 users, or among those of the system, a shared user would be likely.
  return half < 1000 || largest.first + half < 1000 ? null : { first: largest.first + half, count: half };
}

/** Always the same for a key: a workspace that waits for a person still belongs to its run after a restart. */
export function userOfRun(key: string, range: UserRange): number {
  const user = range.first + (createHash('sha256').update(key).digest().readUInt32BE(0) % range.count);
  // 65534 is `nobody`, the owner of everything that is not mapped.
  return user === 65_534 ? user + 1 : user;
}
