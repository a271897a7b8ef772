import { type ExpressionBuilder, sql } from 'kysely';
import type { DeliveryRecord, InboxStore } from '../github/inbox-store.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

// Literals, not parameters: SQLite uses the partial indexes only when it sees the values.
const pending = sql.lit('pending');
const failed = sql.lit('failed');

export function createInboxStore(database: Database): InboxStore {
  const records = () =>
    database.read
      .selectFrom('inbox')
      .select([
        'seq',
        'delivery_id as id',
        'event',
        'state',
        'attempts',
        'received_at_ms as receivedAtMs',
        'next_at_ms as nextAtMs',
        'note',
        sql<number | null>`length(body)`.as('size'),
      ]);

  return {
    async insert(tx, { id, event, lane, body, receivedAtMs }) {
      const db = database.inside(tx);
      const fresh = { event, lane, body, received_at_ms: receivedAtMs, next_at_ms: 0 };
      const inserted = await db
        .insertInto('inbox')
        .values({ delivery_id: id, ...fresh, state: 'pending', attempts: 0 })
        .onConflict((conflict) => conflict.column('delivery_id').doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows === 1n) return 'stored';
      const reopened = await db
        .updateTable('inbox')
        .set({ ...fresh, state: 'pending', attempts: 0 })
        .where('delivery_id', '=', id)
        .where('state', '=', 'failed')
        .executeTakeFirst();
      return reopened.numUpdatedRows === 1n ? 'reopened' : 'duplicate';
    },

    async claim(tx, nowMs, busyLanes) {
      const db = database.inside(tx);
      const due = await db
        .selectFrom('inbox')
        .select(['seq', 'delivery_id', 'event', 'lane', 'body', 'received_at_ms', 'attempts'])
        .where('state', '=', pending)
        .where('next_at_ms', '<=', nowMs)
        .where(outside(busyLanes))
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst();
      if (!due) return null;
      const attempt = due.attempts + 1;
      await db.updateTable('inbox').set({ attempts: attempt }).where('seq', '=', due.seq).execute();
      const { delivery_id: id, event, lane, received_at_ms: receivedAtMs } = due;
      // Bodies are dropped of settled deliveries only.
      return { id, event, lane, body: due.body ?? new Uint8Array(), receivedAtMs, attempt };
    },

    async nextDueMs(busyLanes) {
      const row = await database.read
        .selectFrom('inbox')
        .select('next_at_ms')
        .where('state', '=', pending)
        .where(outside(busyLanes))
        .orderBy('next_at_ms')
        .limit(1)
        .executeTakeFirst();
      return row?.next_at_ms ?? null;
    },

    async settle(tx, id, { state, note }) {
      await database
        .inside(tx)
        .updateTable('inbox')
        .set({ state, note })
        .where('delivery_id', '=', id)
        .execute();
    },

    async retryLater(tx, id, nextAtMs, note) {
      const update = database.inside(tx).updateTable('inbox').set({ next_at_ms: nextAtMs, note });
      await update.where('delivery_id', '=', id).execute();
    },

    async giveBack(tx, id, nowMs, note) {
      await database
        .inside(tx)
        .updateTable('inbox')
        .set(({ eb }) => ({ attempts: eb('attempts', '-', 1), next_at_ms: nowMs, note }))
        .where('delivery_id', '=', id)
        .where('attempts', '>', 0)
        .execute();
    },

    async bringForward(tx, laterThanMs, nowMs) {
      await database
        .inside(tx)
        .updateTable('inbox')
        .set({ next_at_ms: nowMs })
        .where('state', '=', pending)
        .where('next_at_ms', '>', laterThanMs)
        .execute();
    },

    async reopen(tx, id, nowMs) {
      const reopened = await database
        .inside(tx)
        .updateTable('inbox')
        .set({ state: 'pending', attempts: 0, next_at_ms: nowMs })
        .where('delivery_id', '=', id)
        .where('state', '!=', 'pending')
        .where('body', 'is not', null)
        .executeTakeFirst();
      return reopened.numUpdatedRows === 1n;
    },

    async dropBodies(tx, receivedBeforeMs, limit) {
      const db = database.inside(tx);
      const old = db
        .selectFrom('inbox')
        .select('seq')
        .where('body', 'is not', null)
        .where('received_at_ms', '<', receivedBeforeMs)
        .where('state', '!=', 'pending')
        .limit(limit);
      const dropped = await db
        .updateTable('inbox')
        .set({ body: null })
        .where('seq', 'in', old)
        .executeTakeFirst();
      return Number(dropped.numUpdatedRows);
    },

    async forget(tx, receivedBeforeMs, limit) {
      const db = database.inside(tx);
      const old = db
        .selectFrom('inbox')
        .select('seq')
        .where('received_at_ms', '<', receivedBeforeMs)
        .where('state', '!=', 'pending')
        .limit(limit);
      const forgotten = await db.deleteFrom('inbox').where('seq', 'in', old).executeTakeFirst();
      return Number(forgotten.numDeletedRows);
    },

    async find(id) {
      const row = await records().where('delivery_id', '=', id).executeTakeFirst();
      return row ? toRecord(row) : null;
    },

    async list({ state, event, before, limit }) {
      let query = records().orderBy('seq', 'desc').limit(limit);
      if (state !== null) query = query.where('state', '=', sql.lit(state));
      if (event !== null) query = query.where('event', '=', event);
      if (before !== null) query = query.where('seq', '<', before);
      return (await query.execute()).map(toRecord);
    },

    async body(id) {
      const query = database.read.selectFrom('inbox').select('body').where('delivery_id', '=', id);
      return (await query.executeTakeFirst())?.body ?? null;
    },

    async hasPending(event, lane) {
      const row = await database.read
        .selectFrom('inbox')
        .select('seq')
        .where('state', '=', pending)
        .where('event', '=', event)
        .where('lane', '=', lane)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async standing() {
      const inbox = database.read.selectFrom('inbox');
      const waiting = await inbox
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('received_at_ms').as('since')])
        .where('state', '=', pending)
        .executeTakeFirst();
      const lost = await inbox
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('state', '=', failed)
        .where('body', 'is not', null)
        .executeTakeFirst();
      return {
        pending: waiting?.count ?? 0,
        pendingSinceMs: waiting?.since ?? null,
        failed: lost?.count ?? 0,
      };
    },
  };
}

const outside = (lanes: readonly string[]) => (where: ExpressionBuilder<Schema, 'inbox'>) =>
  lanes.length === 0 ? where.lit(true) : where('lane', 'not in', lanes);

/** The column is plain text to the database. */
const toRecord = (row: Omit<DeliveryRecord, 'state'> & { readonly state: string }): DeliveryRecord => ({
  ...row,
  state: row.state as DeliveryRecord['state'],
});
