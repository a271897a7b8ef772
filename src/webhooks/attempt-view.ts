import type { Attempt } from './delivery-store.ts';

/**
 * An attempt as readers of the stack see it who do not administer it. Whether a target was refused, does not
 * resolve, is closed or does not answer would map the network that the server stands in: without an HTTP status
 * they all are one failure, and how long it took is not told. What went over the wire, addresses included, never is.
 */
export function attemptForReaders(attempt: Attempt): Attempt {
  const seen: Attempt = { ...attempt, detail: null, exchange: null };
  if (attempt.statusCode !== null) return seen;
  if (attempt.outcome !== 'failed' && attempt.outcome !== 'blocked') return { ...seen, durationMs: null };
  return { ...seen, outcome: 'failed', error: 'no-answer', durationMs: null };
}
