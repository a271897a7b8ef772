import { createIds } from '../../src/ids.ts';
import { deliveryStoreContract } from '../contracts/delivery-store.ts';
import { missedStoreContract } from '../contracts/missed-store.ts';
import { webhookStoreContract } from '../contracts/webhook-store.ts';
import { aWebhook } from '../support/builders.ts';
import { openStores } from './stores.ts';

webhookStoreContract('SQLite', async () => {
  const stores = await openStores();
  return {
    webhooks: stores.webhooks,
    transactions: stores.database,
    addStack: () => stores.addStack(),
    dump: () => stores.atRest(),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
});

deliveryStoreContract('SQLite', async () => {
  const stores = await openStores();
  const stackKey = await stores.addStack();
  return {
    deliveries: stores.deliveries,
    transactions: stores.database,
    newId: stores.newId,
    addRun: () => stores.addRun(stackKey),
    async addWebhook() {
      const id = stores.newId();
      const url = `https://${id.toLowerCase()}.example/`;
      await stores.database.write((tx) => stores.webhooks.insert(tx, aWebhook({ id, stackKey, url })));
      return id;
    },
    async removeWebhook(id) {
      await stores.database.write((tx) => stores.webhooks.remove(tx, id));
    },
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
});

missedStoreContract('SQLite', async () => {
  const stores = await openStores();
  const { database, newId } = stores;
  return {
    missed: stores.missed,
    addStack: () => stores.addStack(),
    async addWebhook(stackKey) {
      const id = newId();
      await database.write((tx) => stores.webhooks.insert(tx, aWebhook({ id, stackKey })));
      return id;
    },
    async addRun(stackKey, atMs, states, type = 'TRACKED') {
      const id = createIds({ nowMs: () => atMs })();
      await stores.addRun(stackKey, { id, type });
      const events = states.map((state, index) => ({
        run_id: id,
        state_version: index + 1,
        state,
        timestamp_ms: atMs + index * 1000,
        actor: 'server',
        note: null,
      }));
      await database.write(async (tx) => {
        await database.inside(tx).insertInto('run_event').values(events).execute();
      });
      return id;
    },
    async deliver(webhookId, runId, upTo, status) {
      await database.write(async (tx) => {
        for (let stateVersion = 1; stateVersion <= upTo; stateVersion += 1) {
          const id = newId();
          await stores.deliveries.insert(tx, { id, webhookId, runId, stateVersion, createdAtMs: 0 });
          const settled = { status, next_at_ms: null };
          await database.inside(tx).updateTable('delivery').set(settled).where('id', '=', id).execute();
        }
      });
    },
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
});
