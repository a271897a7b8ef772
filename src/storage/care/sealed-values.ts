import type BetterSqlite3 from 'better-sqlite3';
import { purposes, type SealedColumn } from '../sealed-columns.ts';
import { opens, type SecretBox } from '../secret-box.ts';

/** Few at a time: a plan may have megabytes. */
const pageSize = 20;

type Row = Record<string, string | number | Uint8Array>;

/** Calls `each` with every sealed value of a column. `each` may change the value in its row. */
export function forEachSealed(
  connection: BetterSqlite3.Database,
  { table, column, key }: SealedColumn,
  each: (sealed: Uint8Array, key: readonly (string | number)[]) => void,
): void {
  const names = key.join(', ');
  const select = `select ${names}, ${column} as sealed from ${table} where ${column} is not null`;
  const order = `order by ${names} limit ${pageSize}`;
  const first = connection.prepare(`${select} ${order}`);
  const next = connection.prepare(`${select} and (${names}) > (${key.map(() => '?').join(', ')}) ${order}`);
  let rows = first.all() as Row[];
  while (rows.length > 0) {
    let last: (string | number)[] = [];
    for (const row of rows) {
      last = key.map((name) => row[name] as string | number);
      each(row['sealed'] as Uint8Array, last);
    }
    rows = next.all(...last) as Row[];
  }
}

/** Whether the database was made with the key. False as well without a canary: then it was never opened by a server. */
export function belongsTogether(connection: BetterSqlite3.Database, box: SecretBox): boolean {
  const sealed = connection.prepare('select box from canary').pluck().get() as Uint8Array | undefined;
  return sealed !== undefined && opens(box, purposes.canary(), sealed);
}
