import BetterSqlite3 from 'better-sqlite3';
import { UserError } from '../user-error.ts';

/**
 * An error of the database or a file, as it is to be passed on: a full disk is no bug, and whoever asks has to be told.
 * What was to be stored is not stored, not even a part of it that counts.
 */
export function asStorageError(error: unknown): unknown {
  if (!isFull(error)) return error;
  return new UserError('storage-full', 'The server has no room left to store anything.', {
    hint: 'Nothing was changed. An operator must make room on its disk; then try again.',
    cause: error,
  });
}

function isFull(error: unknown): boolean {
  if (error instanceof BetterSqlite3.SqliteError) return error.code === 'SQLITE_FULL';
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
