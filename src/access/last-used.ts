import { UserError } from '../user-error.ts';

/** What is told of the last use is as old as that at most: not every request is a write. */
const grainMs = 5 * 60_000;

/** Calls `write` when the last use that is known of is too long ago. Who only reads needs no room on the disk. */
export async function noteUse(
  lastUsedAtMs: number | null,
  nowMs: number,
  write: () => Promise<void>,
): Promise<void> {
  if (lastUsedAtMs !== null && nowMs < lastUsedAtMs + grainMs) return;
  try {
    await write();
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'storage-full') throw error;
  }
}
