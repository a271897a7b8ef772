import { existsSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { UserError } from '../../user-error.ts';
import { openProblem } from '../open-problem.ts';

/** Runs `work` on a database file as it is: no migration, nothing is made. Read-only unless it says otherwise. */
export function withFile<T>(
  path: string,
  work: (connection: BetterSqlite3.Database) => T,
  options: { readonly writable?: boolean; readonly timeoutMs?: number } = {},
): T {
  if (!existsSync(path)) {
    throw new UserError('database-missing', `There is no database ${path}.`, {
      hint: 'DATA_DIR or DATABASE_URL say where it is; a server makes it at its first start.',
    });
  }
  try {
    const { writable = false, timeoutMs = 5000 } = options;
    const connection = new BetterSqlite3(path, {
      readonly: !writable,
      fileMustExist: true,
      timeout: timeoutMs,
    });
    try {
      requireOurs(connection, path);
      return work(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw openProblem(`The database ${path}`, error) ?? error;
  }
}

function requireOurs(connection: BetterSqlite3.Database, path: string): void {
  const tables = connection
    .prepare(
      "select count(*) from sqlite_schema where type = 'table' and name in ('migration', 'canary', 'backup')",
    )
    .pluck()
    .get();
  if (tables === 3) return;
  throw new UserError('database-damaged', `${path} is no database of this Slipway.`, {
    hint: 'Give the file that `slipway db backup` made, or the slipway.db of a data directory.',
  });
}
