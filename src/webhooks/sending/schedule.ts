/**
 * When a delivery is tried again. Pure: time and chance come in as arguments. Every answer but 2xx and
 * every network error is tried again, so the kind of failure is no argument.
 */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * Time from the end of one attempt to the next, the first for the first attempt: 13 attempts over about
 * three days, as long as the longest of the known senders. The quick start is for receivers that restart.
 */
export const attemptDelaysMs: readonly number[] = [
  0,
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  1 * hour,
  2 * hour,
  4 * hour,
  8 * hour,
  16 * hour,
  20 * hour,
  20 * hour,
];

/** Only ever added, so that nothing is early: not for us, not for Retry-After. */
const maxJitter = 0.2;
const maxRetryAfterMs = 24 * hour;

export interface FailedTry {
  /** Attempts of this round so far, the failed one included. */
  readonly tries: number;
  /** Something else will be tried, so that there is no reason to wait longer than the first time. */
  readonly isQuick?: boolean;
  readonly endedAtMs: number;
  /** From 0 inclusive to 1 exclusive. */
  readonly random: number;
  /** What the receiver asked for. */
  readonly retryAfterMs: number | null;
}

/** The time of the next attempt, or null when the schedule is exhausted. */
export function nextAttemptMs(failed: FailedTry, delaysMs = attemptDelaysMs): number | null {
  const delay = delaysMs[failed.tries];
  if (delay === undefined) return null;
  const planned = failed.isQuick ? Math.min(delay, delaysMs[1] ?? delay) : delay;
  const slot = Math.ceil(planned * (1 + maxJitter * failed.random));
  const asked = Math.min(failed.retryAfterMs ?? 0, maxRetryAfterMs);
  return failed.endedAtMs + Math.max(slot, asked);
}

/** RFC 9110 §10.2.3: seconds, or a date. Null for anything else; a date gone by is zero. */
export function parseRetryAfter(value: string, nowMs: number): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * second, maxRetryAfterMs);
  // Date.parse alone takes "-5" for a year and "1.5" for a day in January.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d/.test(text)) return null;
  // The oldest of the three forms has no zone; all of them mean GMT.
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? null : Math.min(Math.max(0, date - nowMs), maxRetryAfterMs);
}
