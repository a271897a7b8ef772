import type { WebhookHealth } from '../delivery-store.ts';

/**
 * What failures in a row mean for a webhook: when to be careful with it, when to warn, and when to give it up.
 * Pure. A count of failures alone disables nothing: ten of them fit into an outage of two minutes.
 */
const hour = 60 * 60 * 1000;

/** From so many on one request at a time finds out whether it works again. */
const probeAfter = 5;
const warnAfterMs = [1 * hour, 24 * hour, 48 * hour];
const lostAfter = { ms: 72 * hour, failedAttempts: 10, exhausted: 1 };
/** The longest gap between two attempts is a day: after two of silence nothing is known any more. */
const forgetAfterMs = 48 * hour;

export interface Failure {
  readonly atMs: number;
  /** As WebhookHealth has it. */
  readonly error: string;
  /** It was the last attempt of its delivery. */
  readonly isExhausted: boolean;
  /** What the receiver asked for. */
  readonly pauseUntilMs: number | null;
}

export interface AfterFailure {
  readonly health: WebhookHealth;
  /** It failed for so long that somebody should hear of it, again. */
  readonly isWarning: boolean;
  /** It must be disabled. */
  readonly isLost: boolean;
}

export function afterFailure(before: WebhookHealth | null, failure: Failure): AfterFailure {
  const { atMs } = failure;
  const isNew =
    before === null || before.failedAttempts === 0 || atMs - before.lastFailedAtMs > forgetAfterMs;
  const streak = isNew ? { failedAttempts: 0, failingSinceMs: atMs, exhausted: 0, warnings: 0 } : before;
  const failedAttempts = streak.failedAttempts + 1;
  const exhausted = streak.exhausted + (failure.isExhausted ? 1 : 0);
  const failingMs = atMs - streak.failingSinceMs;
  const warnings = Math.max(streak.warnings, warnAfterMs.filter((ms) => failingMs >= ms).length);
  return {
    health: {
      failedAttempts,
      failingSinceMs: streak.failingSinceMs,
      lastFailedAtMs: atMs,
      exhausted,
      warnings,
      pausedUntilMs: later(before?.pausedUntilMs ?? null, failure.pauseUntilMs),
      lastError: failure.error,
    },
    isWarning: warnings > streak.warnings,
    isLost:
      failingMs >= lostAfter.ms &&
      failedAttempts >= lostAfter.failedAttempts &&
      exhausted >= lostAfter.exhausted,
  };
}

/** Null: all is well. A pause outlives a success that was on its way when it was asked for. */
export function afterSuccess(before: WebhookHealth, atMs: number): WebhookHealth | null {
  if (!isPaused(before, atMs)) return null;
  return { ...before, failedAttempts: 0, exhausted: 0, warnings: 0 };
}

/** How many requests a webhook may have in flight now. */
export function inFlightAtMost(health: WebhookHealth | undefined, nowMs: number, usual: number): number {
  if (health === undefined) return usual;
  if (isPaused(health, nowMs)) return 0;
  return health.failedAttempts >= probeAfter ? 1 : usual;
}

function isPaused({ pausedUntilMs }: WebhookHealth, nowMs: number): boolean {
  return pausedUntilMs !== null && pausedUntilMs > nowMs;
}

function later(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}
