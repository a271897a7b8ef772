import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';

interface LockOptions {
  signal: AbortSignal;
  /** Called once when another holder is in the way. */
  onWait?: () => void;
  pollMs?: number;
}

/**
 * Runs `work` while no other process (or other caller in this one) holds the lock on `file`. The lock is SQLite's own on an
 * empty database: the kernel frees it when its process dies, however it dies, so there is no stale lock to recognise.
 * A file with a pid was rejected: two waiters can both find it stale, and a pid means nothing in another container.
 */
export async function withLock<T>(file: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file, { timeout: 0 });
  try {
    let announced = false;
    while (!tryLock(database)) {
      if (!announced) options.onWait?.();
      announced = true;
      await sleep(options.pollMs ?? 500);
      options.signal.throwIfAborted();
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryLock(database: Database.Database): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}
