import BetterSqlite3 from 'better-sqlite3';
import { UserError } from '../user-error.ts';
import { openProblem } from './open-problem.ts';

/** Of two that start at the same instant each is in the other's way for a moment; without patience neither wins. */
const patienceMs = 500;

/**
 * Makes a server the only one of its database. A lock that the kernel gives back however the process ends:
 * SQLite's own, on a file of its own. A pid file cannot tell a dead server from a reused pid.
 */
export function lockForServer(path: string): Disposable {
  const connection = openLock(path);
  try {
    connection.exec('begin exclusive');
  } catch (cause) {
    connection.close();
    if (!(cause instanceof BetterSqlite3.SqliteError) || cause.code !== 'SQLITE_BUSY') {
      throw openProblem(`The lock file ${path}`, cause) ?? cause;
    }
    throw new UserError('already-running', 'Another Slipway server uses this data directory.', {
      hint: 'Stop it first (its pid is in server.pid), or give this one another DATA_DIR.',
      cause,
    });
  }
  return { [Symbol.dispose]: () => connection.close() };
}

function openLock(path: string): BetterSqlite3.Database {
  try {
    return new BetterSqlite3(path, { timeout: patienceMs });
  } catch (error) {
    throw openProblem(`The lock file ${path}`, error) ?? error;
  }
}
