import type BetterSqlite3 from 'better-sqlite3';
import { UserError } from '../user-error.ts';
import { sql as start } from './migrations/001-start.ts';

/** In order, forward only. A migration that was released is never edited. */
const migrations: readonly { name: string; sql: string }[] = [{ name: '001-start', sql: start }];

/** Brings the file to the newest schema, each step in a transaction. Refuses a file of a newer Slipway. */
export function migrate(connection: BetterSqlite3.Database): void {
  connection.exec(
    'create table if not exists migration (name text primary key, applied_at_ms integer not null) strict',
  );
  const step = connection.transaction(() => {
    const applied = connection.prepare('select name from migration order by name').pluck().all() as string[];
    const known = new Set(migrations.map(({ name }) => name));
    const newer = applied.find((name) => !known.has(name));
    if (newer !== undefined) {
      throw new UserError(
        'database-newer',
        `The database was written by a newer Slipway (migration ${newer}).`,
        {
          hint: 'Start that version, or restore a backup made before the upgrade.',
        },
      );
    }
    const next = migrations.find(({ name }) => !applied.includes(name));
    if (!next) return false;
    connection.exec(next.sql);
    connection.prepare('insert into migration values (?, ?)').run(next.name, Date.now());
    return true;
  });
  while (step.immediate());
}
