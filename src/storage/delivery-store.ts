import { sql } from 'kysely';
import type { DeliveryStore, NewDelivery, Queue } from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { createClaim } from './delivery-claim.ts';
import { createDeliveryReads } from './delivery-reads.ts';
import { createFinish } from './delivery-result.ts';
import { createHealthMethods } from './webhook-health.ts';

/**
 * Deliveries in SQLite. `next_at_ms` says what is due, unless a lease that has not run out holds it. It stays as it
 * is while an attempt is under way: an index that does not change is not written.
 */
export function createDeliveryStore(database: Database): DeliveryStore {
  return {
    async insertPayload(tx, runId, stateVersion, body) {
      const row = { run_id: runId, state_version: stateVersion, body };
      await database.inside(tx).insertInto('payload').values(row).execute();
    },

    async insert(tx, delivery) {
      const result = await database
        .inside(tx)
        .insertInto('delivery')
        .values(newRow(delivery, delivery.stateVersion))
        .onConflict((conflict) => conflict.columns(['webhook_id', 'run_id', 'state_version']).doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n;
    },

    async insertRequest(tx, request) {
      const db = database.inside(tx);
      await db.insertInto('delivery').values(newRow(request, null)).execute();
      const row = {
        delivery_id: request.id,
        state_version: request.stateVersion,
        policy_id: request.policy.id,
        policy_name: request.policy.name,
        headers: JSON.stringify(request.headers),
        body: request.body,
      };
      await db.insertInto('policy_request').values(row).execute();
    },

    claim: createClaim(database),
    finish: createFinish(database),
    ...createHealthMethods(database),
    ...createDeliveryReads(database),

    async handBack(tx, claim) {
      await database
        .inside(tx)
        .updateTable('delivery')
        .set((row) => ({
          attempts: row('attempts', '-', 1),
          lease_until_ms: null,
          started_at_ms: null,
        }))
        .where('id', '=', claim.deliveryId)
        .where('attempts', '=', claim.attempt)
        .where('lease_until_ms', 'is not', null)
        .execute();
    },

    async endLeases(tx) {
      const db = database.inside(tx);
      await db
        .insertInto('attempt')
        .columns(['delivery_id', 'number', 'started_at_ms', 'outcome'])
        .expression(
          db
            .selectFrom('delivery')
            .select([
              'id',
              'attempts',
              sql<number>`started_at_ms`.as('started'),
              sql<string>`'unknown'`.as('outcome'),
            ])
            .where('lease_until_ms', 'is not', null),
        )
        .execute();
      await db
        .updateTable('delivery')
        .set({ lease_until_ms: null, started_at_ms: null })
        .where('lease_until_ms', 'is not', null)
        .execute();
    },

    async stopPending(tx, webhookId) {
      await database
        .inside(tx)
        .updateTable('delivery')
        .set({ status: 'skipped', next_at_ms: null })
        .where('webhook_id', '=', webhookId)
        .where('next_at_ms', 'is not', null)
        .execute();
    },

    async restart(tx, id, nowMs) {
      const db = database.inside(tx);
      const row = await db
        .selectFrom('delivery')
        .select('lease_until_ms')
        .where('id', '=', id)
        .executeTakeFirst();
      if (!row) return 'missing';
      if (row.lease_until_ms !== null && row.lease_until_ms > nowMs) {
        // It was stopped meanwhile, and is wanted again: should the attempt fail, others follow.
        await db
          .updateTable('delivery')
          .set({ status: 'pending', next_at_ms: nowMs })
          .where('id', '=', id)
          .where('next_at_ms', 'is', null)
          .execute();
        return 'in-flight';
      }
      await db
        .updateTable('delivery')
        .set((current) => ({
          status: 'pending',
          next_at_ms: nowMs,
          earlier_attempts: current.ref('attempts'),
          rejections: 0,
        }))
        .where('id', '=', id)
        .execute();
      return 'due';
    },

    async moveTimes(tx, backMs) {
      const db = database.inside(tx);
      await db
        .updateTable('delivery')
        .set((row) => ({
          next_at_ms: row('next_at_ms', '-', backMs),
          lease_until_ms: row('lease_until_ms', '-', backMs),
        }))
        .where('next_at_ms', 'is not', null)
        .execute();
      await db
        .updateTable('webhook_health')
        .set((row) => ({ paused_until_ms: row('paused_until_ms', '-', backMs) }))
        .where('paused_until_ms', 'is not', null)
        .execute();
    },

    async queues() {
      // A loose index scan: one step for each webhook with anything to come.
      const { rows } = await sql<Queue>`
        with recursive hook (id) as (
          select min(webhook_id) from delivery where next_at_ms is not null
          union all
          select (
            select min(webhook_id) from delivery where next_at_ms is not null and webhook_id > hook.id
          ) from hook where hook.id is not null
        )
        select id as "webhookId", (
          select min(next_at_ms) from delivery where webhook_id = hook.id and next_at_ms is not null
        ) as "nextAtMs"
        from hook where id is not null`.execute(database.read);
      return rows;
    },

    async dropAttempts(tx, { createdBeforeMs, after, limit }) {
      const db = database.inside(tx);
      // Ids are in the order of their making, so this is a walk along the primary key that ends with the old ones.
      const rows = await db
        .selectFrom(
          db
            .selectFrom('attempt')
            .select('delivery_id')
            .distinct()
            .where('delivery_id', '>', after ?? '')
            .orderBy('delivery_id')
            .limit(limit)
            .as('some'),
        )
        .innerJoin('delivery', 'delivery.id', 'some.delivery_id')
        .select(['delivery.id', 'delivery.created_at_ms', 'delivery.next_at_ms'])
        .orderBy('delivery.id')
        .execute();
      const old = rows.filter((row) => row.created_at_ms < createdBeforeMs);
      const settled = old.filter((row) => row.next_at_ms === null).map(({ id }) => id);
      const isLast = rows.length < limit || old.length < rows.length;
      const next = isLast ? null : (rows.at(-1)?.id ?? null);
      if (settled.length === 0) return { dropped: 0, next };
      const dropped = await db.deleteFrom('attempt').where('delivery_id', 'in', settled).executeTakeFirst();
      return { dropped: Number(dropped.numDeletedRows), next };
    },
  };
}

const newRow = ({ id, webhookId, runId, createdAtMs }: NewDelivery, stateVersion: number | null) => ({
  id,
  webhook_id: webhookId,
  run_id: runId,
  state_version: stateVersion,
  status: 'pending',
  attempts: 0,
  earlier_attempts: 0,
  rejections: 0,
  next_at_ms: createdAtMs,
  lease_until_ms: null,
  started_at_ms: null,
  created_at_ms: createdAtMs,
});
