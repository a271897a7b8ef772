import type { MiddlewareHandler } from 'hono';
import { UserError } from '../../user-error.ts';
import type { WebEnv } from '../api.ts';
import { type Credential, credentialKey } from '../authenticate.ts';
import { problem } from '../problem.ts';
import type { RateLimit, Taken } from '../rate-limit.ts';

/** Counts requests of a token or session. Calls in this process have no credential, and are not counted. */
export function rateGate(limit: RateLimit | null): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const { credential } = c.var;
    if (limit === null || credential === null) return next();
    const taken = limit.take(credentialKey(credential));
    if (!taken.isAllowed) {
      const { detail, hint } = tooMany(taken);
      return problem('rate-limited', {
        detail,
        hint,
        headers: { ...headersOf(taken), ...retryAfter(taken) },
      });
    }
    await next();
    for (const [name, value] of Object.entries(headersOf(taken))) c.res.headers.set(name, value);
  };
}

/** The same for a page, which counts as one request whatever it asks. Throws `rate-limited`. */
export function takePage(limit: RateLimit | null, credential: Credential): void {
  const taken = limit?.take(credentialKey(credential));
  if (!taken || taken.isAllowed) return;
  const { detail, hint } = tooMany(taken);
  throw new UserError('rate-limited', detail, { hint });
}

const tooMany = ({ limit, resetSeconds }: Taken) => ({
  detail: `These are more than ${limit} requests in a minute.`,
  hint: `Wait for ${resetSeconds} s.`,
});

const headersOf = ({ limit, remaining, resetSeconds }: Taken) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
});

const retryAfter = ({ resetSeconds }: Taken) => ({ 'retry-after': String(resetSeconds) });
