import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { UserError } from '../../user-error.ts';
import { sync, writeDurably } from '../durable-file.ts';
import { sealedColumns } from '../sealed-columns.ts';
import { createSecretBox, type SecretBox } from '../secret-box.ts';
import { fingerprintOf, keyThatFits, nextKeyPath, replaceByNextKey } from '../secret-key.ts';
import { lockForServer } from '../server-lock.ts';
import type { DatabasePaths } from './backup.ts';
import { withFile } from './open-file.ts';
import { belongsTogether, forEachSealed } from './sealed-values.ts';

/** In this order. A process that dies after any of them leaves a database with its key: the old one or the new one. */
export const rotationSteps = ['key-made', 'resealed', 'committed', 'key-replaced'] as const;
export type RotationStep = (typeof rotationSteps)[number];

export interface RotationResult {
  /** Values that were encrypted anew. */
  readonly secrets: number;
  readonly key: string;
  readonly oldKey: string;
  /** Where the old key lies now: backups from before need it. */
  readonly oldKeyPath: string;
}

/**
 * A new key, and every secret encrypted with it, in one transaction. For a server that does not run: throws
 * `already-running`, and `database-busy` when any other process has the database open. A value that the old key does not
 * open stops it (`secret-unreadable`), and nothing is changed.
 */
export function rotateKey(
  { databasePath, secretKeyPath }: DatabasePaths,
  reached: (step: RotationStep) => void = () => {},
): RotationResult {
  using _ = lockForServer(`${databasePath}.server-lock`);
  const rotate = (connection: BetterSqlite3.Database): RotationResult => {
    takeAlone(connection);
    const old = keyThatFits(secretKeyPath, (key) => belongsTogether(connection, createSecretBox(key)));
    const fresh = makeNextKey(secretKeyPath);
    reached('key-made');

    connection.exec('begin exclusive');
    const secrets = resealAll(connection, createSecretBox(old), createSecretBox(fresh));
    reached('resealed');
    connection.exec('commit');
    reached('committed');

    const oldKeyPath = replaceByNextKey(secretKeyPath);
    reached('key-replaced');
    return { secrets, key: fingerprintOf(fresh), oldKey: fingerprintOf(old), oldKeyPath };
  };
  return withFile(databasePath, rotate, { writable: true, timeoutMs: 500 });
}

/**
 * A command that has the database open would go on to write with the old key. Leaving WAL is refused while anybody else
 * has the file open, and from then on nobody else gets in.
 */
function takeAlone(connection: BetterSqlite3.Database): void {
  connection.pragma('locking_mode = exclusive');
  connection.pragma('journal_mode = delete');
  // What the old key opens is not left behind in free pages.
  connection.pragma('secure_delete = on');
}

/** Beside the old one, on the disk before anything is encrypted with it. */
function makeNextKey(path: string): Buffer {
  requireReplaceable(path);
  const next = nextKeyPath(path);
  const key = randomBytes(32);
  try {
    rmSync(next, { force: true });
    writeDurably(next, key);
    sync(dirname(next));
  } catch (cause) {
    throw unreplaceable(`${next} cannot be written (${(cause as NodeJS.ErrnoException).code}).`, cause);
  }
  return key;
}

/** A file that is mounted by itself, as containers get secrets, cannot be given another content under its name. */
function requireReplaceable(path: string): void {
  const mounts = existsSync('/proc/self/mountinfo') ? readFileSync('/proc/self/mountinfo', 'utf8') : '';
  const isMount = mounts.split('\n').some((line) => line.split(' ')[4] === realpathSync(path));
  if (isMount || lstatSync(path).isSymbolicLink()) {
    throw unreplaceable(`${path} is a link or a mount, not the file itself.`);
  }
}

const unreplaceable = (message: string, cause?: unknown): UserError =>
  new UserError('secret-key-unwritable', `The key cannot be replaced: ${message}`, {
    hint: 'Nothing was changed. Rotate where the key file itself lies, in a directory that may be written.',
    cause,
  });

function resealAll(connection: BetterSqlite3.Database, from: SecretBox, to: SecretBox): number {
  let count = 0;
  for (const sealedColumn of sealedColumns) {
    const { table, column, key } = sealedColumn;
    const where = key.map((name) => `${name} = ?`).join(' and ');
    const update = connection.prepare(`update ${table} set ${column} = ? where ${where}`);
    forEachSealed(connection, sealedColumn, (sealed, names) => {
      const purpose = sealedColumn.purpose(...names);
      const plain = opened(from, purpose, sealed, `${table}.${column} of ${names.join(' ')}`);
      update.run(to.seal(purpose, plain), ...names);
      count += 1;
    });
  }
  return count;
}

function opened(box: SecretBox, purpose: string, sealed: Uint8Array, what: string): Buffer {
  try {
    return box.open(purpose, sealed);
  } catch (cause) {
    throw new UserError('secret-unreadable', `${what} cannot be decrypted with the present key.`, {
      hint: 'Nothing was changed. Set that value again or remove what it belongs to; `slipway db check` lists them all.',
      cause,
    });
  }
}
