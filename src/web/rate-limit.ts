import type { Clock } from '../clock.ts';

/** Requests of somebody, as a bucket that fills again evenly: a minute's worth at once at most. */
export interface RateLimit {
  /** Counts one request. `key`: whose. */
  take(key: string): Taken;
}

export interface Taken {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** Whole requests that are left. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full again; of a refused request, until there is room for one. */
  readonly resetSeconds: number;
}

const minuteMs = 60_000;
/** Whoever was quiet longest is forgotten, and starts with a full bucket. */
const maxKeys = 10_000;

/** `perMinute` above 0. */
export function createRateLimit(perMinute: number, clock: Clock, most = maxKeys): RateLimit {
  const msEach = minuteMs / perMinute;
  /** When each bucket is full again. Those used last stand last. */
  const fullAt = new Map<string, number>();

  function forget(nowMs: number): void {
    for (const [key, atMs] of fullAt) {
      if (fullAt.size <= most && atMs > nowMs) return;
      fullAt.delete(key);
    }
  }

  return {
    take(key) {
      const nowMs = clock.nowMs();
      // A clock that was set back must not shut anybody out for longer than a minute.
      const before = Math.min(Math.max(fullAt.get(key) ?? nowMs, nowMs), nowMs + minuteMs);
      const isAllowed = before + msEach <= nowMs + minuteMs;
      const after = isAllowed ? before + msEach : before;
      fullAt.delete(key);
      fullAt.set(key, after);
      forget(nowMs);
      const waitMs = isAllowed ? after - nowMs : before + msEach - minuteMs - nowMs;
      return {
        isAllowed,
        limit: perMinute,
        // Halves of a thousandth: what floating point leaves is no request.
        remaining: Math.max(0, Math.floor((nowMs + minuteMs - after) / msEach + 0.0005)),
        resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      };
    },
  };
}
