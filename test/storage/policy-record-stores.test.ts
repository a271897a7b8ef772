import { createNoticeStore } from '../../src/storage/notice-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRunCauseStore } from '../../src/storage/run-cause-store.ts';
import { noticeStoreContract } from '../contracts/notice-store.ts';
import { runCauseStoreContract } from '../contracts/run-cause-store.ts';
import { anAccount } from '../support/builders.ts';
import { openStores, type Stores } from '../webhooks/stores.ts';

const removeRun = (stores: Stores, id: string): Promise<void> =>
  stores.database.write(async (tx) => {
    await stores.database.inside(tx).deleteFrom('run').where('id', '=', id).execute();
  });

runCauseStoreContract('SQLite', async () => {
  const stores = await openStores();
  const stackKey = await stores.addStack();
  return {
    causes: createRunCauseStore(stores.database),
    transactions: stores.database,
    addRun: () => stores.addRun(stackKey),
    removeRun: (id) => removeRun(stores, id),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
});

noticeStoreContract('SQLite', async () => {
  const stores = await openStores();
  const { database, newId } = stores;
  const other = anAccount({ id: 12, login: 'Umbrella' });
  await database.write((tx) => createRepositoryStore(database).saveAccount(tx, other));
  return {
    notices: createNoticeStore(database),
    transactions: database,
    newId,
    addStack: () => stores.addStack(),
    addRun: (stackKey) => stores.addRun(stackKey),
    removeRun: (id) => removeRun(stores, id),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
});
