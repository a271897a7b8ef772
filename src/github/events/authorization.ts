import { z } from 'zod';
import type { Sessions } from '../../access/sessions.ts';
import { done, type EventHandler, ignored, notUnderstood } from './event-handler.ts';
import { senderJson } from './sender.ts';

const payload = z.object({ action: z.string(), sender: senderJson });

/** Somebody took back, at GitHub, that the App may say who they are: they are logged in nowhere from then on. */
export function createAuthorizationHandler(parts: { sessions: Pick<Sessions, 'endAllOf'> }): EventHandler {
  return async (event) => {
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const { action, sender } = parsed.data;
    if (action !== 'revoked') return ignored(`nothing is done for the action ${action}`);
    const ended = await parts.sessions.endAllOf(sender.id);
    return done(`${ended} ${ended === 1 ? 'session' : 'sessions'} of ${sender.login} ended`);
  };
}
