import { type RawBuilder, sql } from 'kysely';
import type { RunState } from '../runs/run.ts';
import type {
  Replay,
  ReplayRange,
  ReplayScope,
  ReplayStatus,
  ReplayStore,
} from '../webhooks/replay-store.ts';
import type { Database } from './database.ts';
import type { ReplayRow } from './webhook-rows.ts';

/** State changes looked at in one step: those of other stacks lie in between, and a step must stay short. */
const windowSize = 2000;

/**
 * Replays in SQLite. A replay walks along `run_event.seq`, its sort key and its cursor in one, so that nothing
 * is skipped or repeated whatever happens in between.
 */
export function createReplayStore(database: Database): ReplayStore {
  return {
    async count(scope) {
      const { rows } = await sql<{ state: RunState; count: number; first: number; last: number }>`
        select event.state, count(*) as count, min(event.seq) as first, max(event.seq) as last
        from run cross join run_event as event on event.run_id = run.id
        where ${isWanted(scope)}
        group by event.state
        order by event.state`.execute(database.read);
      // The first state change of the oldest run.
      const oldest = await database.read
        .selectFrom('run')
        .innerJoin('run_event', 'run_event.run_id', 'run.id')
        .select('timestamp_ms')
        .where('stack_key', '=', scope.stackKey)
        .orderBy('run.id')
        .orderBy('run_event.state_version')
        .limit(1)
        .executeTakeFirst();
      return {
        states: new Map(rows.map(({ state, count }) => [state, count])),
        position: rows.length === 0 ? 0 : Math.min(...rows.map(({ first }) => first)) - 1,
        last: Math.max(0, ...rows.map(({ last }) => last)),
        oldestMs: oldest?.timestamp_ms ?? null,
      };
    },

    async insert(tx, replay) {
      const { range } = replay;
      await database
        .inside(tx)
        .insertInto('replay')
        .values({
          id: replay.id,
          webhook_id: replay.webhookId,
          since_ms: range.sinceMs,
          until_ms: range.untilMs,
          state: range.state,
          failed_only: range.failedOnly ? 1 : 0,
          status: 'running',
          position: replay.position,
          last: replay.last,
          total: replay.total,
          queued: 0,
          created_at_ms: replay.createdAtMs,
          created_by: replay.createdBy,
          ended_at_ms: null,
        })
        .execute();
    },

    async running(tx) {
      const db = tx ? database.inside(tx) : database.read;
      const rows = await db
        .selectFrom('replay')
        .selectAll()
        // A literal: SQLite uses the partial index only when it sees the value.
        .where('status', '=', sql.lit('running'))
        .select((row) =>
          (['pending', 'failed', 'skipped'] as const).map((status) =>
            row
              .selectFrom('delivery')
              .select((delivery) => delivery.fn.countAll<number>().as('count'))
              .whereRef('delivery.replay_id', '=', 'replay.id')
              .where('delivery.status', '=', status)
              .as(status),
          ),
        )
        .orderBy('id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        webhookId: row.webhook_id,
        range: rangeOf(row),
        position: row.position,
        last: row.last,
        waiting: row.pending ?? 0,
        failing: row.failed ?? 0,
        skipped: row.skipped ?? 0,
      }));
    },

    async next(tx, scope, { after, last, limit }) {
      const end = Math.min(after + windowSize, last);
      const { rows } = await sql<{ seq: number; runId: string; stateVersion: number; deliveryId: string }>`
        select event.seq, event.run_id as "runId", event.state_version as "stateVersion",
          (select id from delivery where webhook_id = ${scope.webhookId}
            and run_id = event.run_id and state_version = event.state_version) as "deliveryId"
        from run_event as event cross join run on run.id = event.run_id
        where event.seq > ${after} and event.seq <= ${end} and ${isWanted(scope)}
        order by event.seq
        limit ${limit}`.execute(database.inside(tx));
      return { items: rows, position: rows.length < limit ? end : (rows.at(-1)?.seq ?? end) };
    },

    async advance(tx, id, { position, deliveryIds }) {
      const db = database.inside(tx);
      await db
        .updateTable('replay')
        .set((row) => ({ position, queued: row('queued', '+', deliveryIds.length) }))
        .where('id', '=', id)
        .execute();
      if (deliveryIds.length === 0) return;
      await db.updateTable('delivery').set({ replay_id: id }).where('id', 'in', deliveryIds).execute();
    },

    async end(tx, id, status, nowMs) {
      const result = await database
        .inside(tx)
        .updateTable('replay')
        .set({ status, ended_at_ms: nowMs })
        .where('id', '=', id)
        .where('status', '=', 'running')
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async find(id) {
      const row = await database.read
        .selectFrom('replay')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      return row ? replayOf(row) : null;
    },

    async listOfWebhook(webhookId, { before, limit }) {
      let query = database.read.selectFrom('replay').selectAll().where('webhook_id', '=', webhookId);
      if (before !== null) query = query.where('id', '<', before);
      return (await query.orderBy('id', 'desc').limit(limit).execute()).map(replayOf);
    },

    async removeEnded(tx, { endedBeforeMs, limit }) {
      const db = database.inside(tx);
      const old = db.selectFrom('replay').select('id').where('ended_at_ms', '<', endedBeforeMs).limit(limit);
      const result = await db.deleteFrom('replay').where('id', 'in', old).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

/** Of `event` and `run`. */
function isWanted(scope: ReplayScope): RawBuilder<boolean> {
  const { filter, state } = scope;
  const delivery = sql`from delivery where webhook_id = ${scope.webhookId}
    and run_id = event.run_id and state_version = event.state_version`;
  const conditions = [
    sql`run.stack_key = ${scope.stackKey}`,
    sql`event.timestamp_ms >= ${scope.sinceMs} and event.timestamp_ms < ${scope.untilMs}`,
    ...(state === null ? [] : [sql`event.state = ${state}`]),
    ...(filter.states === null ? [] : [isOneOf(sql`event.state`, filter.states)]),
    ...(filter.runTypes === null ? [] : [isOneOf(sql`run.type`, filter.runTypes)]),
    ...(scope.failedOnly
      ? [sql`not exists (select 1 ${delivery} and status in ('delivered', 'pending'))`]
      : []),
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

const isOneOf = (column: RawBuilder<unknown>, values: readonly string[]) =>
  values.length === 0 ? sql`false` : sql`${column} in (${sql.join(values)})`;

const rangeOf = (row: ReplayRow): ReplayRange => ({
  sinceMs: row.since_ms,
  untilMs: row.until_ms,
  state: row.state as RunState | null,
  failedOnly: row.failed_only === 1,
});

function replayOf(row: ReplayRow): Replay {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    range: rangeOf(row),
    status: row.status as ReplayStatus,
    total: row.total,
    queued: row.queued,
    createdAtMs: row.created_at_ms,
    createdBy: row.created_by,
    endedAtMs: row.ended_at_ms,
  };
}
