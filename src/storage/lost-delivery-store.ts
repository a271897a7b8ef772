import { sql } from 'kysely';
import type { LostDeliveryStore } from '../github/reconcile/lost-delivery-store.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { LostDeliveryRow } from './github-rows.ts';

// A literal, not a parameter: SQLite uses the partial index only when it sees the value.
const waiting = sql.lit('waiting');

export function createLostDeliveryStore(database: Database): LostDeliveryStore {
  const allWaiting = () => database.read.selectFrom('lost_delivery').where('state', '=', waiting);
  const change = async (tx: Tx, guid: string, values: Partial<LostDeliveryRow>) => {
    await database.inside(tx).updateTable('lost_delivery').set(values).where('guid', '=', guid).execute();
  };

  return {
    async readUntilMs() {
      const row = await database.read.selectFrom('delivery_list').selectAll().executeTakeFirst();
      return row?.read_until_ms ?? null;
    },

    async setReadUntil(tx, ms) {
      await database
        .inside(tx)
        .insertInto('delivery_list')
        .values({ id: 1, read_until_ms: ms })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ read_until_ms: ms }))
        .execute();
    },

    async missingInInbox(guids) {
      const found = await database.read
        .selectFrom('inbox')
        .select('delivery_id')
        .where('delivery_id', 'in', [...guids])
        .execute();
      const known = new Set(found.map((row) => row.delivery_id));
      return guids.filter((guid) => !known.has(guid));
    },

    async add(tx, { guid, deliveryId, event, repositoryId, deliveredAtMs }, nowMs) {
      const inserted = await database
        .inside(tx)
        .insertInto('lost_delivery')
        .values({
          guid,
          delivery_id: deliveryId,
          event,
          repository_id: repositoryId,
          delivered_at_ms: deliveredAtMs,
          asks: 0,
          next_at_ms: nowMs,
          state: 'waiting',
        })
        .onConflict((conflict) => conflict.column('guid').doNothing())
        .executeTakeFirst();
      return inserted.numInsertedOrUpdatedRows === 1n;
    },

    async due(nowMs) {
      const row = await allWaiting()
        .selectAll()
        .where('next_at_ms', '<=', nowMs)
        .orderBy('next_at_ms')
        .orderBy('delivered_at_ms')
        .limit(1)
        .executeTakeFirst();
      if (!row) return null;
      return {
        guid: row.guid,
        deliveryId: row.delivery_id,
        event: row.event,
        repositoryId: row.repository_id,
        deliveredAtMs: row.delivered_at_ms,
        asks: row.asks,
      };
    },

    async nextDueMs() {
      const query = allWaiting().select('next_at_ms').orderBy('next_at_ms').limit(1);
      return (await query.executeTakeFirst())?.next_at_ms ?? null;
    },

    async asked(tx, guid, by, nextAtMs) {
      await database
        .inside(tx)
        .updateTable('lost_delivery')
        .set(({ eb }) => ({ asks: eb('asks', '+', by), next_at_ms: nextAtMs }))
        .where('guid', '=', guid)
        .execute();
    },

    giveUp: (tx, guid) => change(tx, guid, { state: 'given_up' }),

    async remove(tx, guid) {
      await database.inside(tx).deleteFrom('lost_delivery').where('guid', '=', guid).execute();
    },

    async isAwaited(event, repositoryId) {
      const row = await allWaiting()
        .select('guid')
        .where('event', '=', event)
        .where('repository_id', '=', repositoryId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('inbox')
                .select('inbox.seq')
                .whereRef('inbox.delivery_id', '=', 'lost_delivery.guid'),
            ),
          ),
        )
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async bringForward(tx, laterThanMs, nowMs) {
      await database
        .inside(tx)
        .updateTable('lost_delivery')
        .set({ next_at_ms: nowMs })
        .where('state', '=', waiting)
        .where('next_at_ms', '>', laterThanMs)
        .execute();
    },

    async forget(tx, deliveredBeforeMs) {
      await database
        .inside(tx)
        .deleteFrom('lost_delivery')
        .where('delivered_at_ms', '<', deliveredBeforeMs)
        .execute();
    },
  };
}
