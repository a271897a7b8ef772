import type BetterSqlite3 from 'better-sqlite3';
import type { Delta, RunState, RunType } from '../runs/run.ts';
import { maxQueuedShown, type StackSummaries, type StackSummary } from '../runs/stack-summary.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import { preparedInside } from './prepared.ts';
import type { StackSummaryRow } from './schema.ts';

/** Longer first lines of commits and notes are cut: a list has one line for them. */
const maxText = 200;

/**
 * Each of the subqueries is one look at an index: `run_one_blocking` (which SQLite would not choose by itself), or
 * `run_of_type` once for each type.
 */
export const summaryInsert = `
  insert into stack_summary
    (stack_key, run_id, type, state, since_ms, commit_hash, subject, author_name, triggered_by, delta, note, queued)
  select stack_key, id, type, state,
    coalesce(
      (select timestamp_ms from run_event where run_id = run.id and state_version = run.state_version),
      created_at_ms
    ),
    commit_hash,
    substr(message, 1, min(instr(message || char(10), char(10)) - 1, ${maxText})),
    author_name, triggered_by, delta, substr(note, 1, ${maxText}),
    (select count(*) from (
      select 1 from run as waiting
      where waiting.stack_key = run.stack_key and waiting.state = 'QUEUED' and waiting.type <> 'PROPOSED'
      limit ${maxQueuedShown}
    ))
  from (
    select *, json_extract("commit", '$.message') as message,
      json_extract("commit", '$.authorName') as author_name
    from run
  ) as run
  where id = coalesce(
    (select id from run indexed by run_one_blocking where stack_key = @key
      and type in ('TRACKED', 'TASK', 'DESTROY') and state not in ('QUEUED', 'FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED')),
    (select max(id) from (
      select (select max(id) from run where stack_key = @key and type = 'TRACKED') as id
      union all select (select max(id) from run where stack_key = @key and type = 'TASK')
      union all select (select max(id) from run where stack_key = @key and type = 'DESTROY')
    ))
  )`;

export function createStackSummaries(database: Database): StackSummaries {
  return {
    async summary(stackKey) {
      const query = database.read.selectFrom('stack_summary').selectAll().where('stack_key', '=', stackKey);
      const row = await query.executeTakeFirst();
      return row ? toSummary(row) : null;
    },
    refreshSummary: createSummaryRefresh(database),
  };
}

export function createSummaryRefresh(database: Database): (tx: Tx, stackKey: string) => Promise<void> {
  const statements = preparedInside(database, (connection: BetterSqlite3.Database) => ({
    remove: connection.prepare('delete from stack_summary where stack_key = ?'),
    insert: connection.prepare(summaryInsert),
  }));
  return async (tx, stackKey) => {
    const { remove, insert: add } = statements(tx);
    remove.run(stackKey);
    add.run({ key: stackKey });
  };
}

export function toSummary(row: StackSummaryRow): StackSummary {
  return {
    runId: row.run_id,
    type: row.type as RunType,
    state: row.state as RunState,
    sinceMs: row.since_ms,
    commit: { hash: row.commit_hash, subject: row.subject, authorName: row.author_name },
    triggeredBy: row.triggered_by,
    delta: row.delta === null ? null : (JSON.parse(row.delta) as Delta),
    note: row.note,
    queued: row.queued,
  };
}
