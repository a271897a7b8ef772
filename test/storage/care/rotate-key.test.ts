import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { checkDatabase } from '../../../src/storage/care/check.ts';
import { rotateKey, rotationSteps } from '../../../src/storage/care/rotate-key.ts';
import { lockForServer } from '../../../src/storage/server-lock.ts';
import { openStores, type StorePaths } from '../../../src/storage/stores.ts';
import { startNode } from '../../support/node-process.ts';
import { filledDirectory, secretsOf } from './filled-database.ts';

async function secretsIn(paths: StorePaths) {
  const stores = await openStores(paths);
  try {
    return await secretsOf(stores);
  } finally {
    await stores.database[Symbol.asyncDispose]();
  }
}

const dying = (paths: StorePaths, step: string) => `
  const { rotateKey } = await import(src + '/storage/care/rotate-key.ts');
  rotateKey(${JSON.stringify(paths)}, (step) => {
    if (step === ${JSON.stringify(step)}) process.kill(process.pid, 'SIGKILL');
  });
  console.log('survived');`;

describe('a rotation of the key', () => {
  it('encrypts everything anew, and keeps the old key beside the new one', async () => {
    using filled = await filledDirectory();
    const { paths } = filled;
    const [before, old] = [await secretsIn(paths), readFileSync(paths.secretKeyPath)];

    const result = rotateKey(paths);

    expect(result.secrets).toBe(45 + 1 + 3 + 3 + 1 + 1 + 1);
    expect(readFileSync(paths.secretKeyPath).equals(old)).toBe(false);
    expect(readFileSync(result.oldKeyPath).equals(old)).toBe(true);
    expect(await secretsIn(paths)).toEqual(before);
    expect(checkDatabase(paths)).toMatchObject({ ok: true, key: result.key, secrets: result.secrets });
    const keys = readdirSync(dirname(paths.secretKeyPath)).filter((name) => name.startsWith('secret'));
    expect(keys.sort()).toEqual(['secret.key', `secret.key.old-${result.oldKey}`]);
  });

  it('leaves nothing that the old key opens', async () => {
    using filled = await filledDirectory();
    const { paths } = filled;
    const sealed = () => {
      const connection = new BetterSqlite3(paths.databasePath, { readonly: true });
      const values = connection.prepare('select value from stack_variable').pluck().all() as Buffer[];
      connection.close();
      return values;
    };
    const before = sealed();
    rotateKey(paths);
    const bytes = readFileSync(paths.databasePath);
    expect(before.filter((value) => bytes.includes(value))).toEqual([]);
    expect(sealed().every((value) => bytes.includes(value))).toBe(true);
  });

  it.each(rotationSteps)(
    'that is killed at "%s" leaves a database with its key, and can be done again',
    async (step) => {
      using filled = await filledDirectory();
      const { paths } = filled;
      const before = await secretsIn(paths);
      const old = readFileSync(paths.secretKeyPath);

      await using process = startNode(dying(paths, step));
      await expect(process.line()).rejects.toThrow('the process ended');

      expect(await secretsIn(paths)).toEqual(before);
      const isNew = step === 'committed' || step === 'key-replaced';
      expect(readFileSync(paths.secretKeyPath).equals(old)).toBe(!isNew);
      expect(checkDatabase(paths)).toMatchObject({ ok: true, problems: [] });
      rotateKey(paths);
      expect(await secretsIn(paths)).toEqual(before);
      expect(existsSync(`${paths.secretKeyPath}.next`)).toBe(false);
    },
  );

  it('is taken up by the next rotation as well as by the next start', async () => {
    using filled = await filledDirectory(3);
    const { paths } = filled;
    const before = await secretsIn(paths);
    await using process = startNode(dying(paths, 'committed'));
    await expect(process.line()).rejects.toThrow('the process ended');

    rotateKey(paths);

    expect(await secretsIn(paths)).toEqual(before);
  });

  it('is refused while a server runs', async () => {
    using filled = await filledDirectory(1);
    const { paths } = filled;
    using _ = lockForServer(`${paths.databasePath}.server-lock`);

    expect(() => rotateKey(paths)).toThrow(expect.objectContaining({ code: 'already-running' }));
  });

  it('is refused while a command has the database open: it would go on with the old key', async () => {
    using filled = await filledDirectory(1);
    const { paths } = filled;
    const old = readFileSync(paths.secretKeyPath);
    const stores = await openStores(paths);

    expect(() => rotateKey(paths)).toThrow(expect.objectContaining({ code: 'database-busy' }));
    await stores.database[Symbol.asyncDispose]();

    expect(readFileSync(paths.secretKeyPath).equals(old)).toBe(true);
    rotateKey(paths);
  });

  it('lets nobody in before it is done', async () => {
    using filled = await filledDirectory(1);
    const { paths } = filled;
    const seen: string[] = [];

    rotateKey(paths, (step) => {
      const other = new BetterSqlite3(paths.databasePath, { timeout: 0 });
      try {
        other.prepare('select * from canary').all();
        seen.push(`${step} open`);
      } catch (error) {
        seen.push(`${step} ${(error as { code: string }).code}`);
      }
      other.close();
    });

    expect(seen).toEqual(rotationSteps.map((step) => `${step} SQLITE_BUSY`));
  });

  it('stops at a value that cannot be read, and changes nothing', async () => {
    using filled = await filledDirectory(30);
    const { paths } = filled;
    const connection = new BetterSqlite3(paths.databasePath);
    connection.exec("update stack_variable set value = x'0102' where name = 'NAME_7'");
    connection.close();
    const old = readFileSync(paths.secretKeyPath);

    const problem = { code: 'secret-unreadable', message: expect.stringContaining('stack-1 NAME_7') };
    expect(() => rotateKey(paths)).toThrow(expect.objectContaining(problem));

    expect(readFileSync(paths.secretKeyPath).equals(old)).toBe(true);
    const { ok, problems } = checkDatabase(paths);
    expect([ok, problems]).toEqual([false, ['stack_variable.value of stack-1 NAME_7 cannot be decrypted']]);
  });

  it('is refused where the key file cannot be replaced, or is another one', async () => {
    using filled = await filledDirectory(1);
    const { paths, directory } = filled;
    const elsewhere = join(directory.path, 'elsewhere');
    mkdirSync(elsewhere);
    const link = { ...paths, secretKeyPath: join(elsewhere, 'link') };
    symlinkSync(paths.secretKeyPath, link.secretKeyPath);
    const other = { ...paths, secretKeyPath: join(elsewhere, 'other') };
    writeFileSync(other.secretKeyPath, Buffer.alloc(32, 1));

    expect(() => rotateKey(link)).toThrow(expect.objectContaining({ code: 'secret-key-unwritable' }));
    expect(() => rotateKey(other)).toThrow(expect.objectContaining({ code: 'secret-key-wrong' }));
    expect(checkDatabase(paths).ok).toBe(true);
  });

  it('lets an old backup be opened with the old key', async () => {
    using filled = await filledDirectory(2);
    const { paths, directory } = filled;
    const before = await secretsIn(paths);
    const old = {
      ...paths,
      databasePath: join(directory.path, 'old.db'),
      secretKeyPath: join(directory.path, 'old'),
    };
    copyFileSync(paths.databasePath, old.databasePath);

    renameSync(rotateKey(paths).oldKeyPath, old.secretKeyPath);

    expect(await secretsIn(old)).toEqual(before);
  });
});
