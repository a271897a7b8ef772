import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  const fresh = `${path}.${process.pid}.new`;
  try {
    writeFileSync(fresh, randomBytes(keyLength), { mode: 0o600, flag: 'wx' });
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new UserError('secret-key-unwritable', `The key file ${path} cannot be written.`, {
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
    throw new UserError('secret-key-unreadable', `The key file ${path} cannot be read.`, { cause: error });
  }
  if (key.length !== keyLength) {
    throw new UserError('secret-key-invalid', `The key file ${path} must hold exactly ${keyLength} bytes.`);
  }
  return key;
}
