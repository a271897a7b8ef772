import { describe, expect, test } from 'vitest';
import { createBranchHeadStore } from '../../src/storage/branch-head-store.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { createLostDeliveryStore } from '../../src/storage/lost-delivery-store.ts';
import { createOutboxStore } from '../../src/storage/outbox-store.ts';
import { createRepositoryFileStore } from '../../src/storage/repository-file-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { branchHeadStoreContract } from '../contracts/branch-head-store.ts';
import { inboxStoreContract } from '../contracts/inbox-store.ts';
import { lostDeliveryStoreContract } from '../contracts/lost-delivery-store.ts';
import { outboxStoreContract } from '../contracts/outbox-store.ts';
import { repositoryFileStoreContract } from '../contracts/repository-file-store.ts';
import { repositoryStoreContract } from '../contracts/repository-store.ts';
import { anAccount, aRepository, aRun, stackSettings } from '../support/builders.ts';
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
      await store.saveRepository(tx, aRepository({ id, accountId: account.id, installationId: 101 }));
    },
    installationId: 101,
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

lostDeliveryStoreContract('SQLite', async () => {
  const temp = await tempDatabase();
  const { database } = temp;
  const inbox = createInboxStore(database);
  return {
    store: createLostDeliveryStore(database),
    transactions: database,
    arrive: (tx, id) =>
      inbox.insert(tx, { id, event: 'push', lane: 'x', body: Buffer.from('{}'), receivedAtMs: 0 }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
});

branchHeadStoreContract('SQLite', async () => {
  const temp = await tempDatabase();
  const { database } = temp;
  const repositories = createRepositoryStore(database);
  const stacks = createStackStore(database, createSecretBox(Buffer.alloc(32, 7)));
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveRepository(tx, aRepository());
  });
  return {
    store: createBranchHeadStore(database),
    transactions: database,
    async addStack(tx, key, branch) {
      const of = { accountId: 11, repositoryId: 21 };
      await stacks.insert(tx, { key, id: key, ...of, settings: stackSettings({ branch }), createdAtMs: 0 });
    },
    removeStack: (tx, key) => stacks.remove(tx, key),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
});

describe('a repository that was transferred', () => {
  test('takes its stacks along, but for those whose id the new account has', async () => {
    await using temp = await tempDatabase();
    const { database } = temp;
    const repositories = createRepositoryStore(database);
    const stacks = createStackStore(database, createSecretBox(Buffer.alloc(32, 7)));
    const settings = stackSettings();
    const globex = { id: 12, login: 'globex', installationId: 102, suspended: false };
    const infra = aRepository();
    await database.write(async (tx) => {
      await repositories.saveAccount(tx, anAccount());
      await repositories.saveAccount(tx, globex);
      await repositories.saveRepository(tx, infra);
      await repositories.saveRepository(tx, aRepository({ id: 22, accountId: 12 }));
      for (const id of ['network', 'dns']) {
        await stacks.insert(tx, { key: id, id, accountId: 11, repositoryId: 21, settings, createdAtMs: 0 });
      }
      const other = { key: 'other', id: 'dns', accountId: 12, repositoryId: 22 };
      await stacks.insert(tx, { ...other, settings, createdAtMs: 0 });

      await repositories.saveRepository(tx, { ...infra, accountId: 12, installationId: 102 });
    });

    expect(await stacks.findByKey('network')).toMatchObject({ account: 'globex', id: 'network' });
    expect(await stacks.findByKey('dns')).toMatchObject({ account: 'acme', id: 'dns' });
    expect(await stacks.find('globex', 'dns')).toMatchObject({ key: 'other' });
  });
});
