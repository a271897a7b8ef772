import type { MiddlewareHandler } from 'hono';
import type { WebEnv } from '../api.ts';
import { type Authentication, unauthenticated } from '../authenticate.ts';

/** Nobody gets on without saying who they are. Callers of this process are known already. */
export function authenticationGate(
  whoIs: (request: Request) => Promise<Authentication>,
): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const given = c.env.actor;
    const who = given ? ({ kind: 'actor', actor: given } as const) : await whoIs(c.req.raw);
    if (who.kind !== 'actor') return unauthenticated(who.kind);
    c.set('actor', who.actor);
    return next();
  };
}
