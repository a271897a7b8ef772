import { statSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { sealedColumns } from '../sealed-columns.ts';
import { createSecretBox, opens, type SecretBox } from '../secret-box.ts';
import { fingerprintOf, readSecretKey } from '../secret-key.ts';
import type { DatabasePaths } from './backup.ts';
import { withFile } from './open-file.ts';
import { belongsTogether, forEachSealed } from './sealed-values.ts';

export interface DatabaseReport {
  readonly ok: boolean;
  readonly path: string;
  readonly bytes: number;
  /** Unix milliseconds, of a backup that no server has started on. */
  readonly takenAtMs: number | null;
  /** The fingerprint of the key that opens it, or null. */
  readonly key: string | null;
  /** Values that are encrypted. */
  readonly secrets: number;
  readonly problems: readonly string[];
}

const maxProblems = 20;

/** Reads a whole database, that of a running server or a backup, and changes nothing. */
export function checkDatabase({ databasePath, secretKeyPath }: DatabasePaths): DatabaseReport {
  return withFile(databasePath, (connection) => {
    const key = readSecretKey(secretKeyPath);
    const box = key && createSecretBox(key);
    const fits = box !== null && belongsTogether(connection, box);
    const values = fits ? readable(connection, box) : { count: 0, problems: [] };
    const problems = [
      ...structure(connection),
      ...references(connection),
      ...(key === null ? [`the key file ${secretKeyPath} is missing`] : []),
      ...(key !== null && !fits ? [`the key file ${secretKeyPath} is not that of this database`] : []),
      ...values.problems,
    ];
    const takenAtMs = connection.prepare('select taken_at_ms from backup').pluck().get() as
      | number
      | undefined;
    return {
      ok: problems.length === 0,
      path: databasePath,
      bytes: statSync(databasePath).size,
      takenAtMs: takenAtMs ?? null,
      key: key !== null && fits ? fingerprintOf(key) : null,
      secrets: values.count,
      problems: problems.slice(0, maxProblems),
    };
  });
}

function structure(connection: BetterSqlite3.Database): readonly string[] {
  const rows = connection.pragma(`integrity_check(${maxProblems})`) as { integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
}

function references(connection: BetterSqlite3.Database): readonly string[] {
  const rows = connection.pragma('foreign_key_check') as { table: string; parent: string }[];
  return [...new Set(rows.map(({ table, parent }) => `a row of ${table} belongs to no row of ${parent}`))];
}

function readable(connection: BetterSqlite3.Database, box: SecretBox) {
  const problems: string[] = [];
  let count = 0;
  for (const column of sealedColumns) {
    forEachSealed(connection, column, (sealed, key) => {
      count += 1;
      if (opens(box, column.purpose(...key), sealed)) return;
      problems.push(`${column.table}.${column.column} of ${key.join(' ')} cannot be decrypted`);
    });
  }
  return { count, problems };
}
