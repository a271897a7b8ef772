import type BetterSqlite3 from 'better-sqlite3';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';

/**
 * Hand-written statements of a hot path, prepared at their first use. A statement built by Kysely costs five times
 * as much to call, which is nothing but where a thousand are called in a second.
 */
export function preparedInside<T>(
  database: Database,
  prepare: (connection: BetterSqlite3.Database) => T,
): (tx: Tx) => T {
  let statements: T | null = null;
  return (tx) => {
    const connection = database.rawInside(tx);
    statements ??= prepare(connection);
    return statements;
  };
}
