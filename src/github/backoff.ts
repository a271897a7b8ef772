/** After so many attempts GitHub's trouble or ours is not going away: about 5 hours with the delays below. */
export const maxAttempts = 16;

export const longestBackoffMs = 30 * 60_000;

/** How long to wait after a failed attempt: 2, 8, 32 seconds, 2 and 8.5 minutes, then half an hour each. */
export function backoffMs(failedAttempts: number): number {
  return Math.min(2000 * 4 ** (failedAttempts - 1), longestBackoffMs);
}
