import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createAnsweredComments } from '../../src/storage/answered-comments.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import { createFileLogStore } from '../../src/storage/file-log-store.ts';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createSessionStore } from '../../src/storage/session-store.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { createTokenStore } from '../../src/storage/token-store.ts';
import { answeredCommentsContract } from '../contracts/answered-comments.ts';
import { auditStoreContract } from '../contracts/audit-store.ts';
import { idempotencyStoreContract } from '../contracts/idempotency-store.ts';
import { logStoreContract } from '../contracts/log-store.ts';
import { runStoreContract } from '../contracts/run-store.ts';
import { sessionStoreContract } from '../contracts/session-store.ts';
import { stackStoreContract } from '../contracts/stack-store.ts';
import { tokenStoreContract } from '../contracts/token-store.ts';
import { aCommit, anAccount, aRepository, stackSettings } from '../support/builders.ts';
import { tempDatabase, tempDirectory } from '../support/temp-database.ts';

function stores() {
  const temp = tempDatabase();
  const { database } = temp;
  const box = createSecretBox(Buffer.alloc(32, 7));
  return {
    transactions: database,
    runs: createRunStore(database, box),
    stacks: createStackStore(database, box),
    repositories: createRepositoryStore(database),
    tokens: createTokenStore(database),
    audit: createAuditStore(database),
    idempotency: createIdempotencyStore(database, box),
    atRest: () => temp.atRest(),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

runStoreContract('SQLite', async () => {
  const world = stores();
  const { transactions, repositories, stacks } = world;
  await transactions.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveRepository(tx, aRepository());
    await repositories.saveRepository(tx, aRepository({ id: 22, fullName: 'acme/other' }));
  });
  let made = 0;
  return {
    ...world,
    async addStack(repositoryId = 21) {
      made += 1;
      const key = `stack-${made}`;
      const stack = { key, id: key, accountId: 11, repositoryId, settings: stackSettings() };
      await transactions.write((tx) => stacks.insert(tx, { ...stack, createdAtMs: 0 }));
      return key;
    },
  };
});

stackStoreContract('SQLite', async () => {
  const world = stores();
  const { transactions, repositories, runs } = world;
  return {
    ...world,
    addRepository: (account, repository) =>
      transactions.write(async (tx) => {
        await repositories.saveAccount(tx, account);
        await repositories.saveRepository(tx, repository);
      }),
    removeRepository: ({ id }) => transactions.write((tx) => repositories.markRemoved(tx, [id])),
    async addRun(stackKey) {
      const id = `run of ${stackKey}`;
      const run = {
        id,
        stackKey,
        type: 'TRACKED',
        branch: 'main',
        commit: aCommit(),
        createdAtMs: 0,
      } as const;
      await transactions.write((tx) =>
        runs.insert(tx, { ...run, triggeredBy: 'ada', startedBy: 'person:ada', priority: 0, dedupeKey: id }),
      );
      return async () => (await runs.find(id)) !== null;
    },
  };
});

tokenStoreContract('SQLite', stores);
auditStoreContract('SQLite', stores);
idempotencyStoreContract('SQLite', stores);

answeredCommentsContract('SQLite', async () => {
  const temp = tempDatabase();
  const { database } = temp;
  const close = () => temp[Symbol.asyncDispose]();
  return {
    answered: createAnsweredComments(database),
    transactions: database,
    [Symbol.asyncDispose]: close,
  };
});

sessionStoreContract('SQLite', async () => {
  const temp = tempDatabase();
  const { database } = temp;
  const close = () => temp[Symbol.asyncDispose]();
  return { store: createSessionStore(database), transactions: database, [Symbol.asyncDispose]: close };
});

logStoreContract('files', () => {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-logs-'));
  const logs = createFileLogStore(join(directory, 'logs'));
  return {
    logs,
    async [Symbol.asyncDispose]() {
      await logs[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
});

it('keeps log files from the eyes of other users', async () => {
  using directory = tempDirectory();
  await using logs = createFileLogStore(join(directory.path, 'logs'));

  await logs.append('run-1', 'planning', 0, Buffer.from('x'));

  const mode = (...names: string[]) => statSync(join(directory.path, 'logs', ...names)).mode & 0o777;
  expect([mode('run-1'), mode('run-1', 'planning.log')]).toEqual([0o700, 0o600]);
  await logs.seal('run-1', 'planning');
  expect(mode('run-1', 'planning.log')).toBe(0o400);
});

it('knows after a restart which logs are sealed and where the others end', async () => {
  using directory = tempDirectory();
  {
    await using before = createFileLogStore(directory.path);
    await before.append('run-1', 'preparing', 0, Buffer.from('sealed'));
    await before.append('run-1', 'planning', 0, Buffer.from('open'));
    await before.seal('run-1', 'preparing');
  }
  await using logs = createFileLogStore(directory.path);

  const more = Buffer.from(' more');
  expect(await logs.append('run-1', 'preparing', 6, more)).toMatchObject({ reason: 'sealed' });
  expect(await logs.append('run-1', 'planning', 4, more)).toEqual({ kind: 'stored', size: 9 });
});

const otherUser = process.getuid?.() === 0 ? { uid: 60_001, gid: 60_001 } : {};
const storeModule = new URL('../../src/storage/file-log-store.ts', import.meta.url);
const canRead =
  spawnSync(
    process.execPath,
    ['-e', `require('fs').accessSync(${JSON.stringify(storeModule.pathname)})`],
    otherUser,
  ).status === 0;

it.runIf(canRead)('refuses to go on with a sealed log also as a server that is not root', () => {
  using directory = tempDirectory();
  if (otherUser.uid !== undefined) chownSync(directory.path, otherUser.uid, otherUser.gid);
  const program = `
    import { createFileLogStore } from ${JSON.stringify(storeModule.href)};
    await using logs = createFileLogStore(${JSON.stringify(directory.path)});
    const append = (offset) => logs.append('run-1', 'planning', offset, Buffer.from('text'));
    const first = await append(0);
    await logs.seal('run-1', 'planning');
    await logs[Symbol.asyncDispose]();
    console.log(JSON.stringify([first, await append(4), await append(0)]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    ...{ encoding: 'utf8', cwd: '/' },
    ...otherUser,
  });

  expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual([
    { kind: 'stored', size: 4 },
    { kind: 'refused', reason: 'sealed', size: 4 },
    { kind: 'stored', size: 4 },
  ]);
});

it('holds no file open that nobody writes any more', async () => {
  using directory = tempDirectory();
  await using logs = createFileLogStore(directory.path);
  const opened = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory.path);
      } catch {
        return false;
      }
    });
  await logs.append('run-1', 'planning', 0, Buffer.from('x'));
  expect(opened()).toHaveLength(1);

  await expect.poll(opened, { timeout: 10_000 }).toEqual([]);
  expect(await logs.append('run-1', 'planning', 1, Buffer.from('y'))).toEqual({ kind: 'stored', size: 2 });
});
