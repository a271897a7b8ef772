import { z } from 'zod';
import { installationReference } from '../github-json.ts';
import type { Reconciler } from '../reconcile/installations.ts';
import { done, type EventHandler, notUnderstood } from './event-handler.ts';

const payload = z.object({ installation: installationReference });

/**
 * Repositories were added to an installation or taken out of it, or its account has another name. What is the case is
 * asked live: payloads lack default branches, and "removed" may be followed by "added" before we come to it.
 */
export function createInstallationChangedHandler(parts: {
  reconciler: Pick<Reconciler, 'installation'>;
}): EventHandler {
  return async (event) => {
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    return done(await parts.reconciler.installation(parsed.data.installation.id));
  };
}
