import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { UserError } from '../user-error.ts';
import { sync, writeDurably } from './durable-file.ts';

const keyLength = 32;

/**
 * The key that encrypts secrets at rest; made with mode 0600 when there is none and no database either. A
 * database without its key must not get a new one silently: nothing in it could be decrypted any more.
 */
export function loadSecretKey(path: string, databaseExists: boolean): Buffer {
  const found = readSecretKey(path);
  if (found) return found;
  if (databaseExists) {
    throw new UserError('secret-key-missing', `The key file ${path} is missing, but the database exists.`, {
      hint: 'Restore the key file, or set SECRET_KEY_PATH to where it is.',
    });
  }
  // Written aside and linked: two processes that start at once agree on one key.
  // Not named by pid: in a container that is the same after a crash, and the leftover would be in the way.
  const fresh = `${path}.${randomBytes(8).toString('hex')}.new`;
  try {
    // The database is durable before anything is answered; a key that a power cut empties would take it along.
    writeDurably(fresh, randomBytes(keyLength));
    linkSync(fresh, path);
    sync(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new UserError('secret-key-unwritable', `The key file ${path} cannot be written.`, {
        hint: 'Give the directory of SECRET_KEY_PATH (or DATA_DIR) to the user of the server, and see that the disk has room.',
        cause: error,
      });
    }
  } finally {
    rmSync(fresh, { force: true });
  }
  const made = readSecretKey(path);
  if (!made) throw new Error('the key file vanished');
  return made;
}

/** Null when there is no such file. Throws when it is no key, or cannot be read. */
export function readSecretKey(path: string): Buffer | null {
  let key: Buffer;
  try {
    key = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UserError('secret-key-unreadable', `The key file ${path} cannot be read.`, {
      hint: 'SECRET_KEY_PATH (or DATA_DIR) must lead to a file that the user of the server may read.',
      cause: error,
    });
  }
  if (key.length !== keyLength) {
    throw new UserError(
      'secret-key-invalid',
      `The key file ${path} must hold exactly ${keyLength} bytes; it has ${key.length}.`,
      {
        hint: 'Restore the key file that the database was made with. A key of your own: head -c 32 /dev/urandom > key.',
      },
    );
  }
  return key;
}

/** Tells keys apart without telling them: 8 hex digits. */
export const fingerprintOf = (key: Uint8Array): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 8);

/** Where a rotation keeps the new key until the database is encrypted with it. */
export const nextKeyPath = (path: string): string => `${path}.next`;

/**
 * The end of a rotation: the new key takes the place of the old one, which stays beside it. Also the end of one that
 * died meanwhile; then `fits` says whether the database has taken the new key. Gives the place of the old key.
 */
export function replaceByNextKey(path: string, fits: (key: Buffer) => boolean = () => true): string {
  const next = readSecretKey(nextKeyPath(path));
  const old = readSecretKey(path);
  if (!old) throw new Error('a key is replaced that is not there');
  const oldPath = `${path}.old-${fingerprintOf(old)}`;
  if (!next || !fits(next)) return oldPath;
  try {
    writeDurably(oldPath, old);
  } catch (error) {
    // One that died here had come so far.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  try {
    renameSync(nextKeyPath(path), path);
  } catch (error) {
    // Another process that found it unfinished was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  sync(dirname(path));
  return oldPath;
}

/** The key that opens the database, by whatever name a rotation has left it. Throws `secret-key-wrong`. */
export function keyThatFits(path: string, fits: (key: Buffer) => boolean): Buffer {
  const key = loadSecretKey(path, true);
  if (fits(key)) return key;
  replaceByNextKey(path, fits);
  const replaced = loadSecretKey(path, true);
  if (fits(replaced)) return replaced;
  throw new UserError('secret-key-wrong', `The key file ${path} is not that of this database.`, {
    hint: 'SECRET_KEY_PATH must name the key file this database was made with.',
  });
}
