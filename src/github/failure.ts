import { rateLimitMs, statusOf } from './github-error.ts';

/** What a request that GitHub did not grant means for the next attempt: of a check run, of a look at a file. */
export type RequestFailure =
  /** GitHub wants to be left alone, or somebody paused the App: nothing is wrong with the request. */
  | { readonly kind: 'later'; readonly waitMs: number }
  /** GitHub understood and will not: trying for long cannot help. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Bad request, gone or not ours, not acceptable, not available for legal reasons. */
const refusals = new Set([400, 404, 410, 413, 422, 451]);
/** GitHub's limits are those of an hour. */
const longestLimitMs = 60 * 60_000;
/** "Retry at once" from a server that limits us would be a busy loop. */
const shortestLimitMs = 1000;
/** Until the event about it has come, which keeps its check runs back for as long as it takes. */
const suspendedMs = 60_000;
const maxReasonLength = 500;

export function failureOf(error: unknown, nowMs: number): RequestFailure {
  const message = error instanceof Error ? error.message : 'something that is no error was thrown';
  const limitMs = rateLimitMs(error, nowMs);
  if (limitMs !== null) {
    return { kind: 'later', waitMs: Math.min(Math.max(limitMs, shortestLimitMs), longestLimitMs) };
  }
  const status = statusOf(error);
  if (status === 403 && /suspended/i.test(message)) return { kind: 'later', waitMs: suspendedMs };
  const reason = message.slice(0, maxReasonLength);
  return { kind: status !== null && refusals.has(status) ? 'refused' : 'failed', reason };
}
