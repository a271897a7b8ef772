import { z } from 'zod';
import type { GithubApp } from '../github-app.ts';
import { installationJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import type { Reconciler } from '../reconcile/installations.ts';
import { done, type EventHandler, ignored, notUnderstood } from './event-handler.ts';

const payload = z.object({ action: z.string(), installation: installationJson });

/** The App was installed, removed, suspended, or given other permissions on an account. */
export function createInstallationHandler(parts: {
  app: Pick<GithubApp, 'forgetToken'>;
  repositories: KnownRepositories;
  reconciler: Reconciler;
}): EventHandler {
  const { app, repositories, reconciler } = parts;

  return async (event) => {
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const { action, installation } = parsed.data;
    switch (action) {
      case 'new_permissions_accepted':
        // A token keeps the permissions that it was made with.
        app.forgetToken(installation.id);
        return done(await reconciler.installation(installation.id));
      case 'created':
      case 'suspend':
      case 'unsuspend':
        // Asked live: the payload names repositories without their default branch, and may be old by now.
        return done(await reconciler.installation(installation.id));
      case 'deleted':
        // Ids are never used again, so this cannot be overtaken by anything.
        await repositories.forgetInstallation(installation.id);
        return done('the installation is gone');
      default:
        return ignored(`nothing is done for the action ${action}`);
    }
  };
}
