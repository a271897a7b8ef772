import { sql } from 'kysely';
import type { DeliveryRecord, InboxStore } from '../github/inbox-store.ts';
import type { Database } from './database.ts';

// A literal, not a parameter: SQLite uses the partial index only when it sees the value.
const pending = sql.lit('pending');

export function createInboxStore(database: Database): InboxStore {
  return {
    async insert(tx, { id, event, body, receivedAtMs }) {
      const db = database.inside(tx);
      const fresh = { event, body, received_at_ms: receivedAtMs, next_at_ms: receivedAtMs };
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

    async claim(tx, nowMs) {
      const db = database.inside(tx);
      const due = await db
        .selectFrom('inbox')
        .select(['seq', 'delivery_id', 'event', 'body', 'attempts'])
        .where('state', '=', pending)
        .where('next_at_ms', '<=', nowMs)
        .orderBy('next_at_ms')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst();
      if (!due) return null;
      const attempt = due.attempts + 1;
      await db.updateTable('inbox').set({ attempts: attempt }).where('seq', '=', due.seq).execute();
      // Bodies are dropped of settled deliveries only.
      return { id: due.delivery_id, event: due.event, body: due.body ?? new Uint8Array(), attempt };
    },

    async nextDueMs() {
      const row = await database.read
        .selectFrom('inbox')
        .select('next_at_ms')
        .where('state', '=', pending)
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

    async find(id) {
      const row = await database.read
        .selectFrom('inbox')
        .select([
          'delivery_id as id',
          'event',
          'state',
          'attempts',
          'received_at_ms as receivedAtMs',
          'next_at_ms as nextAtMs',
          'note',
        ])
        .where('delivery_id', '=', id)
        .executeTakeFirst();
      return row ? { ...row, state: row.state as DeliveryRecord['state'] } : null;
    },
  };
}
