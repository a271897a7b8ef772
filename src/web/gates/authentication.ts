import type { MiddlewareHandler } from 'hono';
import type { WebEnv } from '../api.ts';
import { type Authentication, unauthenticated } from '../authenticate.ts';

/** Nobody gets on without saying who they are. Callers of this process are known already. */
export function authenticationGate(
  whoIs: (request: Request) => Promise<Authentication>,
): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const { actor, origin } = c.env;
    if (actor) {
      c.set('actor', actor);
      c.set('origin', origin);
      c.set('credential', null);
      c.set('isStillKnown', async () => true);
      return next();
    }
    const who = await whoIs(c.req.raw);
    if (who.kind !== 'actor') return unauthenticated(who.kind);
    c.set('actor', who.actor);
    c.set('credential', who.credential);
    const { raw } = c.req;
    c.set('isStillKnown', async () => (await whoIs(raw)).kind === 'actor');
    // A session is one of the UI, by whatever of its scripts it asks.
    c.set('origin', who.credential.kind === 'session' ? { ...origin, via: 'ui' } : origin);
    return next();
  };
}
