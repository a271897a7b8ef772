/** GitHub's primary limit: so many requests of an installation in an hour, told with every answer. */
import type { MiddlewareHandler } from 'hono';
import { ApiError, errorResponse } from './api-error.ts';
import type { ApiEnv } from './pipeline.ts';
import type { GithubState } from './state.ts';

const hourMs = 3_600_000;

interface Window {
  readonly resetMs: number;
  used: number;
}

export class RateLimit {
  /** Requests in an hour; GitHub's smallest. */
  limit = 5000;
  readonly #windows = new Map<number, Window>();

  /** Counts one more of the installation. */
  take(installationId: number, nowMs: number): { headers: Record<string, string>; isExceeded: boolean } {
    const known = this.#windows.get(installationId);
    const window = known && known.resetMs > nowMs ? known : { resetMs: nowMs + hourMs, used: 0 };
    this.#windows.set(installationId, window);
    const isExceeded = window.used >= this.limit;
    if (!isExceeded) window.used += 1;
    const headers = {
      'x-ratelimit-limit': String(this.limit),
      'x-ratelimit-remaining': String(this.limit - window.used),
      'x-ratelimit-used': String(window.used),
      'x-ratelimit-reset': String(Math.ceil(window.resetMs / 1000)),
    };
    return { headers, isExceeded };
  }
}

export function limitingRate(state: GithubState, rateLimit: RateLimit): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const caller = c.get('caller');
    if (caller.kind !== 'installation') return next();
    const { id } = caller.token.installation;
    const { headers, isExceeded } = rateLimit.take(id, state.nowMs());
    if (isExceeded) {
      return errorResponse(
        new ApiError(403, `API rate limit exceeded for installation ID ${id}.`, { headers }),
      );
    }
    await next();
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    return;
  };
}
