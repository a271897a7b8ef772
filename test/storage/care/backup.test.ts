import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { backUp, restore } from '../../../src/storage/care/backup.ts';
import { checkDatabase } from '../../../src/storage/care/check.ts';
import { lockForServer } from '../../../src/storage/server-lock.ts';
import { openStores } from '../../../src/storage/stores.ts';
import { startNode } from '../../support/node-process.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import { filledDirectory, secretsOf } from './filled-database.ts';

const nowMs = Date.UTC(2026, 4, 1, 12);
const withCode = (code: string) => expect.objectContaining({ name: 'UserError', code });

/** A data directory that has nothing but the key. */
function emptyDirectory(key: string) {
  const directory = tempDirectory();
  const dataDir = join(directory.path, 'data');
  mkdirSync(dataDir);
  const paths = {
    dataDir,
    databasePath: join(dataDir, 'slipway.db'),
    secretKeyPath: join(dataDir, 'secret.key'),
  };
  copyFileSync(key, paths.secretKeyPath);
  return { paths, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

describe('a backup', () => {
  it('is one file for its owner only, that opens with the key and has everything', async () => {
    using filled = await filledDirectory();
    const { paths, directory } = filled;
    const target = join(directory.path, 'backup.db');

    const made = backUp(paths, target, nowMs);

    expect(readdirSync(directory.path).sort()).toEqual(['backup.db', 'data']);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(made).toMatchObject({ path: target, takenAtMs: nowMs, bytes: statSync(target).size });
    const report = checkDatabase({ ...paths, databasePath: target });
    expect(report).toMatchObject({ ok: true, key: made.key, takenAtMs: nowMs, problems: [] });
    expect(checkDatabase(paths).takenAtMs).toBeNull();
  });

  it('is of one moment, though another process writes all the time', { timeout: 60_000 }, async () => {
    using filled = await filledDirectory(1);
    const { paths, directory } = filled;
    // Both rows of a pair change in one transaction: a copy that has one of them alone is torn.
    await using writer = startNode(`
      const { openStores } = await import(src + '/storage/stores.ts');
      const { database, stacks } = await openStores(${JSON.stringify(paths)});
      console.log('open');
      for (let count = 0; ; count += 1) {
        await database.write(async (tx) => {
          for (const name of ['ONE', 'TWO']) {
            await stacks.putVariable(tx, 'stack-1', { name, value: String(count), secret: true, access: 'all' });
          }
        });
        if (count === 20) console.log('writing');
      }`);
    expect([await writer.line(), await writer.line()]).toEqual(['open', 'writing']);

    const counts: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const target = join(directory.path, `backup-${round}.db`);
      backUp(paths, target, nowMs);
      const stores = await openStores({ ...paths, databasePath: target });
      const values = (await stores.stacks.environment('stack-1')).filter(({ name }) => /ONE|TWO/.test(name));
      await stores.database[Symbol.asyncDispose]();
      expect(new Set(values.map(({ value }) => value)).size).toBe(1);
      counts.push(Number(values[0]?.value));
    }
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts[0]).toBeGreaterThanOrEqual(20);
  });

  it('overwrites nothing, and leaves nothing behind when it cannot be made', async () => {
    using filled = await filledDirectory(1);
    const { paths, directory } = filled;
    const target = join(directory.path, 'backup.db');
    writeFileSync(target, 'precious');

    expect(() => backUp(paths, target, nowMs)).toThrow(withCode('file-exists'));
    expect(readFileSync(target, 'utf8')).toBe('precious');
    const missing = join(directory.path, 'missing', 'backup.db');
    expect(() => backUp(paths, missing, nowMs)).toThrow(/ENOENT/);
    const none = { ...paths, databasePath: join(directory.path, 'none.db') };
    expect(() => backUp(none, join(directory.path, 'b.db'), nowMs)).toThrow(withCode('database-missing'));
    expect(readdirSync(directory.path).sort()).toEqual(['backup.db', 'data']);
  });

  it('is not made of a damaged database, and not of a stranger', async () => {
    using filled = await filledDirectory(1);
    const { paths, directory } = filled;
    const stranger = join(directory.path, 'stranger.db');
    new BetterSqlite3(stranger).exec('create table t (a)').close();
    const target = join(directory.path, 'backup.db');

    expect(() => backUp({ ...paths, databasePath: stranger }, target, nowMs)).toThrow(
      withCode('database-damaged'),
    );
    writeFileSync(stranger, 'Dear Ada, '.repeat(1000));
    expect(() => backUp({ ...paths, databasePath: stranger }, target, nowMs)).toThrow(
      withCode('database-damaged'),
    );
  });

  it('says when the key at hand is not the one that opens it', async () => {
    using filled = await filledDirectory(1);
    const { paths, directory } = filled;
    rmSync(paths.secretKeyPath);

    expect(backUp(paths, join(directory.path, 'backup.db'), nowMs).key).toBeNull();
  });
});

describe('restoring', () => {
  it('makes a data directory that has everything, and is marked', async () => {
    using filled = await filledDirectory();
    const { paths, directory } = filled;
    const before = await openStores(paths);
    const secrets = await secretsOf(before);
    await before.database[Symbol.asyncDispose]();
    const backup = join(directory.path, 'backup.db');
    backUp(paths, backup, nowMs);
    using fresh = emptyDirectory(paths.secretKeyPath);

    const restored = restore(fresh.paths, backup);

    expect(restored).toMatchObject({ path: fresh.paths.databasePath, takenAtMs: nowMs });
    expect(statSync(fresh.paths.databasePath).mode & 0o777).toBe(0o600);
    const stores = await openStores(fresh.paths);
    expect(await secretsOf(stores)).toEqual(secrets);
    expect(await stores.database.write((tx) => stores.backupMark.takenAtMs(tx))).toBe(nowMs);
    await stores.database[Symbol.asyncDispose]();
  });

  it('marks a copy that does not say when it was made with the time of its file', async () => {
    using filled = await filledDirectory(1);
    const { paths } = filled;
    using fresh = emptyDirectory(paths.secretKeyPath);
    utimesSync(paths.databasePath, nowMs / 1000, nowMs / 1000);

    expect(restore(fresh.paths, paths.databasePath).takenAtMs).toBe(nowMs);
  });

  it('overwrites no database, takes the place of no server, and wants the key', async () => {
    using filled = await filledDirectory(1);
    const { paths, directory } = filled;
    const backup = join(directory.path, 'backup.db');
    backUp(paths, backup, nowMs);

    expect(() => restore(paths, backup)).toThrow(withCode('database-exists'));
    using fresh = emptyDirectory(paths.secretKeyPath);
    {
      using _ = lockForServer(`${fresh.paths.databasePath}.server-lock`);
      expect(() => restore(fresh.paths, backup)).toThrow(withCode('already-running'));
    }
    writeFileSync(`${fresh.paths.databasePath}-wal`, 'of another database');
    expect(() => restore(fresh.paths, backup)).toThrow(withCode('database-exists'));
    rmSync(`${fresh.paths.databasePath}-wal`);
    chmodSync(fresh.paths.secretKeyPath, 0o600);
    writeFileSync(fresh.paths.secretKeyPath, Buffer.alloc(32, 1));
    expect(() => restore(fresh.paths, backup)).toThrow(withCode('secret-key-wrong'));
    rmSync(fresh.paths.secretKeyPath);
    expect(() => restore(fresh.paths, backup)).toThrow(withCode('secret-key-missing'));
  });
});

describe('a check', () => {
  it('finds rows that belong to nothing, a damaged page, and a key that is missing', async () => {
    using filled = await filledDirectory(40);
    const { paths } = filled;
    const connection = new BetterSqlite3(paths.databasePath);
    connection.pragma('foreign_keys = off');
    connection.exec("delete from stack where key = 'stack-1'");
    connection.pragma('wal_checkpoint(truncate)');
    connection.close();
    rmSync(paths.secretKeyPath);

    const { ok, problems } = checkDatabase(paths);

    expect(ok).toBe(false);
    expect(problems).toContain('a row of run belongs to no row of stack');
    expect(problems.at(-1)).toMatch(/^the key file .* is missing$/);
  });

  it('finds a damaged page', async () => {
    using filled = await filledDirectory(400);
    const { paths } = filled;
    const connection = new BetterSqlite3(paths.databasePath);
    const root = connection
      .prepare("select rootpage from sqlite_schema where name = 'stack_variable'")
      .pluck()
      .get();
    connection.pragma('journal_mode = delete');
    connection.close();
    const bytes = readFileSync(paths.databasePath);
    bytes.fill(0xff, (Number(root) - 1) * 4096 + 8, Number(root) * 4096);
    writeFileSync(paths.databasePath, bytes);

    const report = () => checkDatabase(paths);

    // What it finds depends on the page; it says so, or SQLite refuses to read on.
    const found = (() => {
      try {
        return report().problems.length > 0;
      } catch (error) {
        return (error as { code?: string }).code === 'database-damaged';
      }
    })();
    expect(found).toBe(true);
  });
});
