import { sql } from 'kysely';
import type { BackupMark } from '../runs/restored.ts';
import type { Database } from './database.ts';

/** More state changes than a server makes between two backups: a reader's cursor of that time never comes again. */
const skippedEvents = 1_000_000;

export function createBackupMark(database: Database): BackupMark {
  return {
    async takenAtMs(tx) {
      const row = await database.inside(tx).selectFrom('backup').select('taken_at_ms').executeTakeFirst();
      return row?.taken_at_ms ?? null;
    },
    async clear(tx) {
      const db = database.inside(tx);
      await db.deleteFrom('backup').execute();
      // Who logged out since would be logged in again.
      await db.deleteFrom('session').execute();
      await sql`update sqlite_sequence set seq = seq + ${skippedEvents} where name = 'run_event'`.execute(db);
    },
  };
}
