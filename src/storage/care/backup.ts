import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { UserError } from '../../user-error.ts';
import { publish, sync } from '../durable-file.ts';
import { openProblem } from '../open-problem.ts';
import { createSecretBox } from '../secret-box.ts';
import { fingerprintOf, readSecretKey } from '../secret-key.ts';
import { lockForServer } from '../server-lock.ts';
import { withFile } from './open-file.ts';
import { belongsTogether } from './sealed-values.ts';

export interface DatabasePaths {
  readonly databasePath: string;
  readonly secretKeyPath: string;
}

export interface BackupResult {
  readonly path: string;
  readonly bytes: number;
  readonly takenAtMs: number;
  /** Of the key that opens it; null when the key at hand does not. */
  readonly key: string | null;
}

/**
 * A copy of the database in one file, as of one moment; a server may be writing meanwhile. The copy knows that it is
 * one. Throws `file-exists`; what was half done leaves nothing behind.
 */
export function backUp(paths: DatabasePaths, target: string, nowMs: number): BackupResult {
  const path = resolve(target);
  if (existsSync(path)) throw fileExists(path);
  const key = keyOf(paths, paths.databasePath);
  const takenAtMs = copy(paths.databasePath, path, nowMs);
  return { path, bytes: statSync(path).size, takenAtMs, key };
}

/**
 * Puts a backup where the database has to be, for a server that does not run. The key must lie in its place. A copy that
 * does not say when it was made (`cp`, a snapshot) gets the time of its file. Throws `already-running`,
 * `database-exists`, `secret-key-missing`, `secret-key-wrong`.
 */
export function restore(paths: DatabasePaths, source: string): BackupResult {
  const { databasePath, secretKeyPath } = paths;
  mkdirSync(dirname(databasePath), { recursive: true, mode: 0o700 });
  using _ = lockForServer(`${databasePath}.server-lock`);
  const there = ['', '-wal', '-journal'].map((end) => databasePath + end).find((path) => existsSync(path));
  if (there !== undefined) {
    throw new UserError('database-exists', `There is a database already: ${there}`, {
      hint: 'Move it away, with its -wal and -shm files if there are any; keep it until you have looked around.',
    });
  }
  if (readSecretKey(secretKeyPath) === null) {
    throw new UserError('secret-key-missing', `The key file ${secretKeyPath} is missing.`, {
      hint: 'Put the key there first that the backup was made with; SECRET_KEY_PATH says where. Without it no secret can be read.',
    });
  }
  const key = keyOf(paths, source);
  if (key === null) {
    throw new UserError('secret-key-wrong', `The key file ${secretKeyPath} does not open ${source}.`, {
      hint: 'It takes the key of the time of the backup. A rotation leaves the one before beside it, as .old-<fingerprint>.',
    });
  }
  const takenAtMs = copy(source, databasePath, Math.round(statSync(source).mtimeMs));
  return { path: databasePath, bytes: statSync(databasePath).size, takenAtMs, key };
}

/** The fingerprint of the key, if that is the one which opens the database. */
function keyOf({ secretKeyPath }: DatabasePaths, databasePath: string): string | null {
  const key = readSecretKey(secretKeyPath);
  if (key === null) return null;
  const isIt = withFile(databasePath, (connection) => belongsTogether(connection, createSecretBox(key)));
  return isIt ? fingerprintOf(key) : null;
}

/** When the copy was made: what the source says of itself, else `takenAtMs`. */
function copy(source: string, target: string, takenAtMs: number): number {
  const partial = `${target}.${randomBytes(6).toString('hex')}.partial`;
  try {
    // Before SQLite does: for everybody to read.
    closeSync(openSync(partial, 'wx', 0o600));
    withFile(source, (connection) => connection.prepare('vacuum into ?').run(partial));
    const marked = mark(partial, takenAtMs);
    sync(partial);
    publish(partial, target);
    sync(dirname(target));
    return marked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(target);
    throw openProblem(`The file ${target}`, error) ?? error;
  } finally {
    for (const end of ['', '-journal']) rmSync(partial + end, { force: true });
  }
}

function mark(path: string, takenAtMs: number): number {
  const connection = new BetterSqlite3(path);
  try {
    connection.prepare('insert into backup values (1, ?) on conflict do nothing').run(takenAtMs);
    const problem = connection.pragma('integrity_check(1)', { simple: true });
    if (problem !== 'ok') {
      throw new UserError('database-damaged', `The copy is damaged: ${problem}`, {
        hint: '`slipway db check` says more about the database it was made of.',
      });
    }
    return connection.prepare('select taken_at_ms from backup').pluck().get() as number;
  } finally {
    connection.close();
  }
}

function fileExists(path: string): UserError {
  return new UserError('file-exists', `${path} exists already; nothing is overwritten.`, {
    hint: 'Name another file, for instance with the date in it.',
  });
}
