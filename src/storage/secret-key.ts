import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { UserError } from '../user-error.ts';

const keyLength = 32;

/**
 * The key that encrypts secrets at rest; made with mode 0600 when there is none and no database either. A
 * database without its key must not get a new one silently: nothing in it could be decrypted any more.
 */
export function loadSecretKey(path: string, databaseExists: boolean): Buffer {
  const found = read(path);
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
    writeDurably(fresh, randomBytes(keyLength));
    linkSync(fresh, path);
    syncDirectory(dirname(path));
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
  const made = read(path);
  if (!made) throw new Error('the key file vanished');
  return made;
}

function read(path: string): Buffer | null {
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

/** The database is durable before anything is answered; a key that a power cut empties would take it along. */
function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
