/** So long what does not answer is asked again, at growing distances; then it is said that it did not answer. */
const longestWaitMs = 30 * 60_000;
const shortestPauseMs = 5000;
const longestPauseMs = 5 * 60_000;

/** When to ask again what is wanted since then; null: it is given up. */
export function askAgainAt(sinceMs: number, nowMs: number): number | null {
  const waitedMs = Math.max(0, nowMs - sinceMs);
  if (waitedMs >= longestWaitMs) return null;
  return nowMs + Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs));
}
