import { type RawBuilder, sql } from 'kysely';
import type { ExpiredPage, PageOptions, RetentionStore } from '../runs/retention.ts';
import { isTerminal, type RunState, runStates } from '../runs/run.ts';
import type { Database } from './database.ts';
import { createSummaryRefresh } from './stack-summary.ts';

const over = runStates.filter(isTerminal);

/** What the look at a run says about it: when it was made, whether and when it ended, whether something keeps it. */
interface Candidate {
  id: string;
  createdAtMs: number;
  state: string;
  endedAtMs: number | null;
  isKept: number;
}

/**
 * Runs have ids in the order of their making, so a page is a walk along the primary key (or the index of those that
 * have a log) that ends at the first run that is too young. Nothing depends on how many runs there are.
 */
export function createRetentionStore(database: Database): RetentionStore {
  const refreshSummary = createSummaryRefresh(database);

  async function pageOf(
    { endedBeforeMs, after, limit }: PageOptions,
    where: RawBuilder<boolean>,
    isKept: RawBuilder<boolean>,
  ): Promise<ExpiredPage> {
    const { rows } = await sql<Candidate>`
      select candidate.id, candidate.created_at_ms as "createdAtMs", candidate.state,
        (select timestamp_ms from run_event
          where run_id = candidate.id and state_version = candidate.state_version) as "endedAtMs",
        ${isKept} as "isKept"
      from run as candidate
      where candidate.id > ${after ?? ''} and ${where}
      order by candidate.id
      limit ${limit}`.execute(database.read);
    const young = rows.findIndex(({ createdAtMs }) => createdAtMs >= endedBeforeMs);
    const old = young === -1 ? rows : rows.slice(0, young);
    const expired = old.filter(
      ({ state, endedAtMs, isKept: kept }) =>
        isTerminal(state as RunState) && endedAtMs !== null && endedAtMs < endedBeforeMs && !kept,
    );
    const isLast = young !== -1 || rows.length < limit;
    return { ids: expired.map(({ id }) => id), next: isLast ? null : (rows.at(-1)?.id ?? null) };
  }

  return {
    expiredRuns: (options) =>
      pageOf(
        options,
        sql`true`,
        sql`not exists (
            select 1 from run as newer
            where newer.stack_key = candidate.stack_key and newer.id > candidate.id
            limit 1 offset ${options.keepNewest - 1}
          ) or not exists (
            select 1 from run as newer
            where newer.stack_key = candidate.stack_key and newer.type = candidate.type
              and newer.id > candidate.id
          ) or exists (
            select 1 from delivery where run_id = candidate.id and next_at_ms is not null
          )`,
      ),

    // Literals: SQLite uses the partial index only when it sees the values.
    expiredLogs: (options) => pageOf(options, sql`had_worker = 1 and log_removed = 0`, sql`false`),

    async removeRuns(tx, ids) {
      if (ids.length === 0) return;
      const db = database.inside(tx);
      const removed = db.selectFrom('run').select('id').where('id', 'in', ids).where('state', 'in', over);
      const { seq } = await db
        .selectFrom('run_event')
        .select((event) => event.fn.max<number | null>('seq').as('seq'))
        .where('run_id', 'in', removed)
        .executeTakeFirstOrThrow();
      if (seq !== null) {
        await sql`insert into removed_event values (1, ${seq})
          on conflict (id) do update set seq = max(seq, excluded.seq)`.execute(db);
      }
      const stacks = await removed.clearSelect().select('stack_key').distinct().execute();
      await db.deleteFrom('run').where('id', 'in', ids).where('state', 'in', over).execute();
      for (const { stack_key } of stacks) await refreshSummary(tx, stack_key);
    },

    async markLogsRemoved(tx, ids) {
      if (ids.length === 0) return;
      await database.inside(tx).updateTable('run').set({ log_removed: 1 }).where('id', 'in', ids).execute();
    },
  };
}
