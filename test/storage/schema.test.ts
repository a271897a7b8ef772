import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { startNode } from '../support/node-process.ts';
import { tempDatabase, tempDirectory } from '../support/temp-database.ts';

const columnTypes: Readonly<Record<string, string>> = {
  string: 'TEXT',
  Json: 'TEXT',
  number: 'INTEGER',
  Flag: 'INTEGER',
  'Generated<number>': 'INTEGER',
  Uint8Array: 'BLOB',
};

type Tables = Record<string, Record<string, string>>;

/** The tables as the queries see them, read as text because types are gone when it runs. */
function declaredTables(): Tables {
  const source = ['schema.ts', 'github-rows.ts', 'webhook-rows.ts', 'access-rows.ts', 'policy-rows.ts']
    .map((file) => readFileSync(join(import.meta.dirname, '../../src/storage', file), 'utf8'))
    .join('\n');
  const interfaces = new Map(
    [...source.matchAll(/^export interface (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name, body]) => [
      name,
      [...(body ?? '').matchAll(/^ {2}(\w+): (.+);$/gm)].map(
        ([, field = '', type = '']) => [field, type] as const,
      ),
    ]),
  );
  const tables = interfaces.get('Schema') ?? [];
  return Object.fromEntries(
    tables.map(([table, row]) => [
      table,
      Object.fromEntries((interfaces.get(row) ?? []).map(([column, type]) => [column, columnType(type)])),
    ]),
  );
}

function columnType(type: string): string {
  const plain = type.replace(' | null', '');
  return `${columnTypes[plain] ?? `unknown type ${type}`}${plain === type ? ' not null' : ''}`;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: 0 | 1;
  readonly pk: number;
}

/** The tables as the migrations made them. */
function migratedTables(path: string): Tables {
  const connection = new BetterSqlite3(path, { readonly: true });
  const names = connection
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .pluck()
    .all() as string[];
  const columnsOf = (table: string) => connection.pragma(`table_info(${table})`) as Column[];
  const tables = names.map((table) => [
    table,
    // SQLite does not list primary keys as not null, and yet they are in strict tables.
    columnsOf(table).map(({ name, type, notnull, pk }) => [name, notnull || pk ? `${type} not null` : type]),
  ]);
  connection.close();
  return Object.fromEntries(
    tables.map(([table, columns]) => [table, Object.fromEntries(columns as [string, string][])]),
  ) as Tables;
}

describe('the schema', () => {
  it('is the same in the types of the queries and in the database', async () => {
    await using temp = tempDatabase();
    const { migration, ...tables } = migratedTables(temp.path);

    expect(migration).toBeDefined();
    expect(Object.keys(tables).length).toBeGreaterThan(15);
    expect(tables).toEqual(declaredTables());
  });

  it('keeps to strict tables, so that no column holds anything of another type', async () => {
    await using temp = tempDatabase();
    const connection = new BetterSqlite3(temp.path, { readonly: true });
    const list = connection.pragma('table_list') as { name: string; strict: 0 | 1; type: string }[];
    connection.close();

    const loose = list.filter(({ name, strict }) => strict === 0 && !name.startsWith('sqlite_'));
    expect(loose).toEqual([]);
  });
});

describe('opening a database', () => {
  it('changes nothing in one that is up to date', async () => {
    await using temp = tempDatabase();
    await temp.database.write((tx) =>
      temp.database
        .inside(tx)
        .insertInto('account')
        .values({ id: 1, login: 'acme', installation_id: null, suspended: 0 })
        .execute(),
    );
    const before = migratedTables(temp.path);

    await using again = openDatabase(temp.path);

    expect(await again.read.selectFrom('account').select('login').execute()).toEqual([{ login: 'acme' }]);
    expect(migratedTables(temp.path)).toEqual(before);
  });

  it('refuses one that a newer version has written, and leaves it as it is', async () => {
    await using temp = tempDatabase();
    const connection = new BetterSqlite3(temp.path);
    connection.prepare('insert into migration values (?, ?)').run('999-from-the-future', 0);
    connection.close();

    expect(() => openDatabase(temp.path)).toThrow(
      expect.objectContaining({
        code: 'database-newer',
        message: expect.stringContaining('999-from-the-future'),
      }),
    );
  });

  it('refuses what is no database', () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'letter.txt');
    writeFileSync(path, 'Dear Ada, this is only a letter. '.repeat(100));
    expect(() => openDatabase(path)).toThrow('not a database');
    expect(() => openDatabase(join(directory.path, 'missing', 'slipway.db'))).toThrow('ENOENT');
  });

  it('makes it once, though several processes do so at once', async () => {
    using directory = tempDirectory();
    const path = join(directory.path, 'slipway.db');
    const code = `
      const { openDatabase } = await import(src + '/storage/database.ts');
      console.log('ready');
      process.stdin.once('data', async () => {
        const database = openDatabase(${JSON.stringify(path)});
        const { migrations } = await database.read
          .selectFrom('migration').select((select) => select.fn.countAll().as('migrations')).executeTakeFirst();
        console.log(migrations);
      });`;
    await using processes = new AsyncDisposableStack();
    const openers = [1, 2, 3].map(() => processes.use(startNode(code)));
    for (const opener of openers) expect(await opener.line()).toBe('ready');

    for (const opener of openers) opener.send('go');

    const counts = await Promise.all(openers.map((opener) => opener.line()));
    expect(new Set(counts).size).toBe(1);
  });

  it('finds what a commit has started without reading all that the stack ever ran', async () => {
    await using temp = tempDatabase();
    const connection = new BetterSqlite3(temp.path, { readonly: true });
    const query =
      'select * from run where stack_key = ? and type = ? and commit_hash = ? order by id desc limit 1';
    const plan = connection.prepare(`explain query plan ${query}`).all('a', 'b', 'c') as { detail: string }[];
    connection.close();

    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH run USING INDEX run_of_commit (stack_key=? AND commit_hash=? AND type=?)',
    ]);
  });
});
