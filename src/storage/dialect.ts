import type BetterSqlite3 from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

/** Distinct statements of the product are a few hundred; preparing one anew costs 2.6 times a cached run. */
const maxCachedStatements = 500;

/**
 * Kysely on one better-sqlite3 connection whose transactions are opened elsewhere (database.ts), with
 * prepared statements kept. Kysely's own SQLite dialect prepares every time and begins deferred.
 * `check` is called before each statement and throws when none may run now.
 */
export function sqliteDialect(connection: BetterSqlite3.Database, check: () => void): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => singleConnectionDriver(connection, check),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

function singleConnectionDriver(connection: BetterSqlite3.Database, check: () => void): Driver {
  const only = cachedConnection(connection, check);
  const refuse = () => Promise.reject(new Error('transactions are opened by Database.write only'));
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(only),
    releaseConnection: () => Promise.resolve(),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: () => Promise.resolve(),
  };
}

function cachedConnection(connection: BetterSqlite3.Database, check: () => void): DatabaseConnection {
  const statements = new Map<string, BetterSqlite3.Statement>();

  function prepare(sql: string): BetterSqlite3.Statement {
    const known = statements.get(sql);
    if (known) {
      statements.delete(sql);
      statements.set(sql, known);
      return known;
    }
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    const oldest = statements.keys().next();
    if (statements.size > maxCachedStatements && !oldest.done) statements.delete(oldest.value);
    return statement;
  }

  return {
    executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      try {
        check();
        const statement = prepare(sql);
        if (statement.reader) return Promise.resolve({ rows: statement.all(parameters) as R[] });
        const { changes, lastInsertRowid } = statement.run(parameters);
        return Promise.resolve({
          rows: [],
          numAffectedRows: BigInt(changes),
          insertId: BigInt(lastInsertRowid),
        });
      } catch (error) {
        return Promise.reject(error);
      }
    },
    streamQuery() {
      throw new Error('nothing streams: lists are paged');
    },
  };
}
