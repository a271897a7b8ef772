import { createDeliveryHandler } from '../../src/github/delivery-handler.ts';
import { createCheckRunHandler, type OnButton } from '../../src/github/events/check-run.ts';
import { createInstallationHandler } from '../../src/github/events/installation.ts';
import { createInstallationRepositoriesHandler } from '../../src/github/events/installation-repositories.ts';
import { createPushHandler } from '../../src/github/events/push.ts';
import { createRepositoryHandler } from '../../src/github/events/repository.ts';
import { createInbox } from '../../src/github/inbox.ts';
import { createInboxWorker } from '../../src/github/inbox-worker.ts';
import { createKnownRepositories } from '../../src/github/known-repositories.ts';
import { createReconciler } from '../../src/github/reconcile.ts';
import type { Push } from '../../src/stacks/trigger.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { aClock, serveInbox, silent, startGithub, tempDatabase, webhookSecret } from './support.ts';

export interface SeenPush {
  push: Push;
  deliveryId: string;
}

/** The whole way in: the stand-in's webhooks, the inbox over HTTP, its worker, Probot, our handlers. */
export async function startReceiving(options: { onButton?: OnButton } = {}) {
  const started = await startGithub();
  const temp = await tempDatabase();
  const { database } = temp;
  const clock = aClock();
  const store = createRepositoryStore(database);
  const inboxStore = createInboxStore(database);
  const reconciler = createReconciler({ app: started.app, store, transactions: database, logger: silent });
  const repositories = createKnownRepositories({ store, reconciler, transactions: database });
  const pushes: SeenPush[] = [];
  const handlers = {
    push: createPushHandler({
      repositories,
      onPush: (push, deliveryId) => {
        pushes.push({ push, deliveryId });
        return Promise.resolve([`network: TRACKED run ${pushes.length}`, 'dns: not affected']);
      },
    }),
    installation: createInstallationHandler({ repositories, reconciler }),
    installation_repositories: createInstallationRepositoriesHandler({ reconciler }),
    repository: createRepositoryHandler({ repositories }),
    check_run: createCheckRunHandler({
      appId: started.github.app.id,
      repositories,
      onButton: options.onButton ?? (() => Promise.reject(new Error('no button in this test'))),
    }),
  };
  const handle = await createDeliveryHandler(started.app.probot, handlers, clock);
  const parts = { store: inboxStore, transactions: database, clock };
  const worker = createInboxWorker({ ...parts, handle, logger: silent });
  const inbox = createInbox({ ...parts, webhookSecret, onStored: () => worker.wake() });
  const served = await serveInbox(inbox);
  worker.start();
  started.github.setWebhook({ url: served.url, secret: webhookSecret });
  return {
    ...started,
    database,
    store,
    inboxStore,
    reconciler,
    handle,
    clock,
    worker,
    pushes,
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
      await started[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}
