import { UserError } from '../user-error.ts';

/**
 * Why the files of the storage could not be opened, in words for whoever starts the server. Null: none of the
 * known reasons, so a bug.
 */
export function openProblem(what: string, error: unknown): UserError | null {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return null;
  const known = problems.find(({ codes }) => codes.test(code));
  if (!known) return null;
  return new UserError(known.code, `${what} ${known.message} (${code}).`, { hint: known.hint, cause: error });
}

const problems: readonly { codes: RegExp; code: string; message: string; hint: string }[] = [
  {
    codes: /^SQLITE_(NOTADB|CORRUPT)/,
    code: 'database-damaged',
    message: 'is damaged, or is no database of Slipway',
    hint: 'Nothing was written to it. Restore it from a backup, with its -wal file if there is one, or set DATABASE_URL.',
  },
  {
    codes: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    code: 'disk-full',
    message: 'cannot be written: the disk is full',
    hint: 'Make room, then start again. Nothing that was acknowledged is lost.',
  },
  {
    codes: /^(SQLITE_BUSY|SQLITE_LOCKED)/,
    code: 'database-busy',
    message: 'is locked by another program',
    hint: 'End whatever has the file open, such as a backup, then start again.',
  },
  {
    codes: /^(EEXIST|ENOTDIR)$/,
    code: 'path-unusable',
    message: 'cannot be used: a file stands where a directory is needed',
    hint: 'Set DATA_DIR (or DATABASE_URL) to a place below directories only.',
  },
  {
    codes: /^(SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_IOERR|SQLITE_PERM|EACCES|EPERM|EROFS|EISDIR|ELOOP|EIO)/,
    code: 'path-unusable',
    message: 'cannot be opened for writing',
    hint: 'Give it to the user of the server, on a file system that is not read-only, or set DATA_DIR (or DATABASE_URL) to another place.',
  },
];
