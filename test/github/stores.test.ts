import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { createOutboxStore } from '../../src/storage/outbox-store.ts';
import { createRepositoryFileStore } from '../../src/storage/repository-file-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { inboxStoreContract } from '../contracts/inbox-store.ts';
import { outboxStoreContract } from '../contracts/outbox-store.ts';
import { repositoryFileStoreContract } from '../contracts/repository-file-store.ts';
import { repositoryStoreContract } from '../contracts/repository-store.ts';
import { anAccount, aRepository, aRun } from '../support/builders.ts';
import { insertRun } from './builders.ts';
import { tempDatabase } from './support.ts';

inboxStoreContract('SQLite', async () => {
  const temp = await tempDatabase();
  const close = () => temp[Symbol.asyncDispose]();
  const { database } = temp;
  return { store: createInboxStore(database), transactions: database, [Symbol.asyncDispose]: close };
});

repositoryStoreContract('SQLite', async () => {
  const temp = await tempDatabase();
  const close = () => temp[Symbol.asyncDispose]();
  const { database } = temp;
  return { store: createRepositoryStore(database), transactions: database, [Symbol.asyncDispose]: close };
});

outboxStoreContract('SQLite', async () => {
  const temp = await tempDatabase();
  const { database } = temp;
  return {
    store: createOutboxStore(database),
    transactions: database,
    addRun: (id) =>
      database.write((tx) => insertRun(database, tx, aRun({ id, state: 'FINISHED' }), aRepository())),
    async saveRepository(tx, id, isSuspended) {
      const store = createRepositoryStore(database);
      const account = { id: 11, login: 'acme', installationId: 101, suspended: isSuspended };
      await store.saveAccount(tx, account);
      await store.saveRepository(tx, aRepository({ id, accountId: account.id }));
    },
    removeRun: async (tx, id) => {
      await database.inside(tx).deleteFrom('run').where('id', '=', id).execute();
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
});

repositoryFileStoreContract('SQLite', async () => {
  const temp = await tempDatabase();
  const { database } = temp;
  const repositories = createRepositoryStore(database);
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    for (const id of [21, 22]) await repositories.saveRepository(tx, aRepository({ id }));
  });
  const close = () => temp[Symbol.asyncDispose]();
  return { store: createRepositoryFileStore(database), transactions: database, [Symbol.asyncDispose]: close };
});
