import { type FunctionModule, sql } from 'kysely';
import type { CheckRunBody } from '../github/feedback/check-run.ts';
import type { CheckRunStore, StoredNote } from '../github/feedback/check-run-store.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { CheckRunRow, Schema } from './schema.ts';

export function createCheckRunStore(database: Database): CheckRunStore {
  const unsettled = () =>
    database.read.selectFrom('check_run').whereRef('settled_version', '<', 'desired_version');

  /** Of accounts where the App works, outside these repositories. */
  const sendable = (busyRepositories: readonly number[]) => {
    const query = unsettled().where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('repository')
            .innerJoin('account', 'account.id', 'repository.account_id')
            .select('account.id')
            .whereRef('repository.id', '=', 'check_run.repository_id')
            .where('account.suspended', '=', 1),
        ),
      ),
    );
    return busyRepositories.length === 0
      ? query
      : query.where('check_run.repository_id', 'not in', busyRepositories);
  };

  const change = async (tx: Tx, id: string, values: Partial<CheckRunRow>) => {
    await database.inside(tx).updateTable('check_run').set(values).where('id', '=', id).execute();
  };

  return {
    async want(tx, { id, runId, repositoryId, desired }, nowMs) {
      if (runId === null) {
        await database
          .inside(tx)
          .deleteFrom('check_run')
          .where('repository_id', '=', repositoryId)
          .where('run_id', 'is', null)
          .where('id', '!=', id)
          .execute();
      }
      const wish = {
        repository_id: repositoryId,
        desired: JSON.stringify(desired),
        attempts: 0,
        next_at_ms: nowMs,
      };
      await database
        .inside(tx)
        .insertInto('check_run')
        .values({
          id,
          run_id: runId,
          ...wish,
          notes: '[]',
          create_tried: 0,
          desired_version: 1,
          settled_version: 0,
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ ...wish, desired_version: sql`check_run.desired_version + 1` }),
        )
        .execute();
    },

    async addNote(tx, id, note, nowMs) {
      const db = database.inside(tx);
      const row = await db.selectFrom('check_run').select('notes').where('id', '=', id).executeTakeFirst();
      if (!row) return false;
      const notes = notesOf(row);
      if (notes.some(({ key }) => key === note.key)) return false;
      await db
        .updateTable('check_run')
        .set({
          notes: JSON.stringify([...notes, note]),
          attempts: 0,
          next_at_ms: nowMs,
          desired_version: sql`desired_version + 1`,
        })
        .where('id', '=', id)
        .execute();
      return true;
    },

    async due(nowMs, busyRepositories) {
      const row = await sendable(busyRepositories)
        .selectAll()
        .where('next_at_ms', '<=', nowMs)
        .orderBy('next_at_ms')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      if (!row) return null;
      return {
        id: row.id,
        runId: row.run_id,
        repositoryId: row.repository_id,
        desired: JSON.parse(row.desired) as CheckRunBody,
        version: row.desired_version,
        checkRunId: row.check_run_id,
        createTried: row.create_tried === 1,
        attempts: row.attempts,
        notes: notesOf(row).map(({ text }) => text),
      };
    },

    async nextDueMs(busyRepositories) {
      const query = sendable(busyRepositories).select('next_at_ms').orderBy('next_at_ms').limit(1);
      return (await query.executeTakeFirst())?.next_at_ms ?? null;
    },

    setCreateTried: (tx, id) => change(tx, id, { create_tried: 1 }),

    sent: (tx, id, version, checkRunId) =>
      change(tx, id, {
        settled_version: version,
        check_run_id: checkRunId,
        attempts: 0,
        last_error: null,
      }),

    async bringForward(tx, laterThanMs, nowMs) {
      await database
        .inside(tx)
        .updateTable('check_run')
        .set({ next_at_ms: nowMs })
        .whereRef('settled_version', '<', 'desired_version')
        .where('next_at_ms', '>', laterThanMs)
        .execute();
    },

    async retryLater(tx, id, version, nextAtMs, error) {
      await database
        .inside(tx)
        .updateTable('check_run')
        .set({ attempts: sql`attempts + 1`, next_at_ms: nextAtMs, last_error: error })
        .where('id', '=', id)
        .where('desired_version', '=', version)
        .execute();
    },

    postpone: (tx, id, nextAtMs) => change(tx, id, { next_at_ms: nextAtMs }),

    async giveUp(tx, id, version, error, nowMs) {
      await change(tx, id, { settled_version: version, last_error: error });
      await database
        .inside(tx)
        .updateTable('check_run')
        .set({ next_at_ms: nowMs })
        .where('id', '=', id)
        .where('desired_version', '=', version)
        .execute();
    },

    async standing(sinceMs) {
      const count = ({ fn }: { fn: FunctionModule<Schema, 'check_run'> }) =>
        fn.countAll<number>().as('count');
      const waiting = await unsettled().select(count).executeTakeFirst();
      const givenUp = await database.read
        .selectFrom('check_run')
        .select(count)
        .where('last_error', 'is not', null)
        .whereRef('settled_version', '>=', 'desired_version')
        .where('next_at_ms', '>=', sinceMs)
        .executeTakeFirst();
      return { waiting: waiting?.count ?? 0, givenUp: givenUp?.count ?? 0 };
    },

    async find(id) {
      const query = database.read.selectFrom('check_run').selectAll().where('id', '=', id);
      const row = await query.executeTakeFirst();
      if (!row) return null;
      return {
        checkRunId: row.check_run_id,
        desired: JSON.parse(row.desired) as CheckRunBody,
        isSettled: row.settled_version >= row.desired_version,
        attempts: row.attempts,
        nextAtMs: row.next_at_ms,
        lastError: row.last_error,
      };
    },
  };
}

const notesOf = ({ notes }: Pick<CheckRunRow, 'notes'>) => JSON.parse(notes) as StoredNote[];
