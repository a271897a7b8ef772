import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/storage/database.ts';

export interface TempDirectory extends Disposable {
  readonly path: string;
}

export function tempDirectory(): TempDirectory {
  const path = mkdtempSync(join(tmpdir(), 'slipway-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A SQLite file of its own, as a server has it. */
export interface TempDatabase extends AsyncDisposable {
  readonly path: string;
  readonly database: Database;
  /** What lies on the disk: the database, its log of writes, and whatever else stands beside them. */
  atRest(): Buffer;
}

export function tempDatabase(): TempDatabase {
  const directory = tempDirectory();
  const path = join(directory.path, 'slipway.db');
  const database = openDatabase(path);
  return {
    path,
    database,
    atRest() {
      return Buffer.concat(
        readdirSync(directory.path).map((name) => readFileSync(join(directory.path, name))),
      );
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}
