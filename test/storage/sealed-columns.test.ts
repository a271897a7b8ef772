import BetterSqlite3 from 'better-sqlite3';
import { expect, it } from 'vitest';
import { sealedColumns } from '../../src/storage/sealed-columns.ts';
import { filledDirectory } from './care/filled-database.ts';

/** Bytes that are meant to be read: what was sent, and what GitHub sent. */
const open = ['inbox.body', 'payload.body', 'policy_request.body'];

it('knows every column of bytes, and the key that names its rows', async () => {
  using filled = await filledDirectory(1);
  using connection = opened(filled.paths.databasePath);
  const columns = connection
    .prepare<[], { name: string; table: string; pk: number }>(
      `select c.name, t.name as "table", c.pk from sqlite_schema t join pragma_table_info(t.name) c
       where t.type = 'table' and c.type = 'BLOB' order by 2, 1`,
    )
    .all()
    .map(({ name, table }) => `${table}.${name}`);
  const known = sealedColumns.map(({ table, column }) => `${table}.${column}`);

  expect(columns).toEqual([...known, ...open].sort());
  for (const { table, column, key } of sealedColumns) {
    const keyOfTable = connection.prepare(
      `select name from pragma_table_info('${table}') where pk > 0 order by pk`,
    );
    expect(key, table).toEqual(keyOfTable.pluck().all());
    expect(
      connection.prepare(`select count(${column}) from ${table}`).pluck().get(),
      `${table}.${column}`,
    ).not.toBe(0);
  }
});

function opened(path: string) {
  const connection = new BetterSqlite3(path, { readonly: true });
  return Object.assign(connection, { [Symbol.dispose]: () => connection.close() });
}
