import { type FunctionModule, sql } from 'kysely';
import type { OutboxKind, OutboxStore, StoredNote } from '../github/feedback/outbox-store.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { OutboxItemRow } from './github-rows.ts';
import type { Schema } from './schema.ts';

export function createOutboxStore(database: Database): OutboxStore {
  const unsettled = () =>
    database.read.selectFrom('outbox_item').whereRef('settled_version', '<', 'desired_version');

  /** Of repositories where the App can show something, outside these lanes. */
  const sendable = (busyLanes: readonly string[]) => {
    const query = unsettled().where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('repository')
            .innerJoin('account', 'account.id', 'repository.account_id')
            .select('account.id')
            .whereRef('repository.id', '=', 'outbox_item.repository_id')
            .where(({ or, eb }) =>
              or([
                eb('account.suspended', '=', 1),
                eb('repository.removed', '=', 1),
                eb('repository.archived', '=', 1),
              ]),
            ),
        ),
      ),
    );
    return busyLanes.length === 0 ? query : query.where('outbox_item.lane', 'not in', busyLanes);
  };

  const change = async (tx: Tx, id: string, values: Partial<OutboxItemRow>) => {
    await database.inside(tx).updateTable('outbox_item').set(values).where('id', '=', id).execute();
  };

  /** A newer version of the same wish. */
  const renew = async (tx: Tx, id: string, dueMs: number, values: Partial<OutboxItemRow> = {}) => {
    const renewed = await database
      .inside(tx)
      .updateTable('outbox_item')
      .set({ ...values, attempts: 0, next_at_ms: dueMs, desired_version: sql`desired_version + 1` })
      .where('id', '=', id)
      .executeTakeFirst();
    return renewed.numUpdatedRows > 0n;
  };

  return {
    async want(tx, { id, kind, runId, repositoryId, lane, slot, desired }, dueMs) {
      const db = database.inside(tx);
      if (slot !== undefined) {
        await db.deleteFrom('outbox_item').where('slot', '=', slot).where('id', '!=', id).execute();
      }
      const wish = {
        repository_id: repositoryId,
        lane,
        slot: slot ?? null,
        desired: JSON.stringify(desired),
        attempts: 0,
        next_at_ms: dueMs,
      };
      await db
        .insertInto('outbox_item')
        .values({
          ...{ id, kind, run_id: runId, ...wish },
          notes: '[]',
          create_tried: 0,
          desired_version: 1,
          settled_version: 0,
        })
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet({ ...wish, desired_version: sql`outbox_item.desired_version + 1` }),
        )
        .execute();
    },

    touch: (tx, id, dueMs) => renew(tx, id, dueMs),

    async addNote(tx, id, note, dueMs) {
      const query = database.inside(tx).selectFrom('outbox_item').select('notes').where('id', '=', id);
      const row = await query.executeTakeFirst();
      if (!row) return false;
      const notes = notesOf(row);
      if (notes.some(({ key }) => key === note.key)) return false;
      return renew(tx, id, dueMs, { notes: JSON.stringify([...notes, note]) });
    },

    async due(nowMs, busyLanes) {
      const row = await sendable(busyLanes)
        .selectAll()
        .where('next_at_ms', '<=', nowMs)
        .orderBy('next_at_ms')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      if (!row) return null;
      return {
        id: row.id,
        kind: row.kind as OutboxKind,
        runId: row.run_id,
        repositoryId: row.repository_id,
        lane: row.lane,
        desired: JSON.parse(row.desired),
        version: row.desired_version,
        remoteId: row.remote_id,
        createTried: row.create_tried === 1,
        attempts: row.attempts,
        notes: notesOf(row).map(({ text }) => text),
      };
    },

    async nextDueMs(busyLanes) {
      const query = sendable(busyLanes).select('next_at_ms').orderBy('next_at_ms').limit(1);
      return (await query.executeTakeFirst())?.next_at_ms ?? null;
    },

    setCreateTried: (tx, id) => change(tx, id, { create_tried: 1 }),

    sent: (tx, id, version, remoteId) =>
      change(tx, id, { settled_version: version, remote_id: remoteId, attempts: 0, last_error: null }),

    async bringForward(tx, laterThanMs, nowMs) {
      await database
        .inside(tx)
        .updateTable('outbox_item')
        .set({ next_at_ms: nowMs })
        .whereRef('settled_version', '<', 'desired_version')
        .where('next_at_ms', '>', laterThanMs)
        .execute();
    },

    async retryLater(tx, id, version, nextAtMs, error) {
      await database
        .inside(tx)
        .updateTable('outbox_item')
        .set({ attempts: sql`attempts + 1`, next_at_ms: nextAtMs, last_error: error })
        .where('id', '=', id)
        .where('desired_version', '=', version)
        .execute();
    },

    postpone: (tx, id, nextAtMs) => change(tx, id, { next_at_ms: nextAtMs }),

    async postponeDue(tx, { installationId, kind, nowMs }, nextAtMs) {
      await database
        .inside(tx)
        .updateTable('outbox_item')
        .set({ next_at_ms: nextAtMs })
        .whereRef('settled_version', '<', 'desired_version')
        .where('next_at_ms', '<=', nowMs)
        .where('kind', '=', kind)
        .where('repository_id', 'in', ({ selectFrom }) =>
          selectFrom('repository').select('repository.id').where('installation_id', '=', installationId),
        )
        .execute();
    },

    async giveUp(tx, id, version, error, nowMs) {
      await change(tx, id, { settled_version: version, last_error: error });
      await database
        .inside(tx)
        .updateTable('outbox_item')
        .set({ next_at_ms: nowMs })
        .where('id', '=', id)
        .where('desired_version', '=', version)
        .execute();
    },

    async standing(sinceMs) {
      const count = ({ fn }: { fn: FunctionModule<Schema, 'outbox_item'> }) =>
        fn.countAll<number>().as('count');
      const waiting = await unsettled().select(count).executeTakeFirst();
      const givenUp = await database.read
        .selectFrom('outbox_item')
        .select(count)
        .where('last_error', 'is not', null)
        .whereRef('settled_version', '>=', 'desired_version')
        .where('next_at_ms', '>=', sinceMs)
        .executeTakeFirst();
      return { waiting: waiting?.count ?? 0, givenUp: givenUp?.count ?? 0 };
    },

    async removeOldChecks(tx, { dueBeforeMs, limit }) {
      const db = database.inside(tx);
      const old = db
        .selectFrom('outbox_item')
        .select('id')
        .where('run_id', 'is', null)
        .where('slot', 'is', null)
        .where('kind', '=', 'check_run')
        .where('next_at_ms', '<', dueBeforeMs)
        .whereRef('settled_version', '>=', 'desired_version')
        .limit(limit);
      const removed = await db.deleteFrom('outbox_item').where('id', 'in', old).executeTakeFirst();
      return Number(removed.numDeletedRows);
    },

    async inSlot(tx, slot) {
      const query = database.inside(tx).selectFrom('outbox_item').select(['id', 'desired']);
      const row = await query.where('slot', '=', slot).executeTakeFirst();
      return row ? { id: row.id, desired: JSON.parse(row.desired) } : null;
    },

    async find(id, tx) {
      const db = tx ? database.inside(tx) : database.read;
      const row = await db.selectFrom('outbox_item').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) return null;
      return {
        kind: row.kind as OutboxKind,
        remoteId: row.remote_id,
        desired: JSON.parse(row.desired),
        isSettled: row.settled_version >= row.desired_version,
        attempts: row.attempts,
        nextAtMs: row.next_at_ms,
        lastError: row.last_error,
      };
    },
  };
}

const notesOf = ({ notes }: Pick<OutboxItemRow, 'notes'>) => JSON.parse(notes) as StoredNote[];
