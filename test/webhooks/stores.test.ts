import { deliveryStoreContract } from '../contracts/delivery-store.ts';
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
