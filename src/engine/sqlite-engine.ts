import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Job, JobQueue } from '../runs/job-queue.ts';
import type { Database } from '../storage/database.ts';
import type { JobRow } from '../storage/schema.ts';
import { createDoorbell } from './doorbell.ts';

/** How long a holder may be silent. It renews every 5 s, so one lost beat is no lost lease. */
export const leaseMs = 30_000;

/**
 * The embedded job queue: a table, a lease and a doorbell, for one process on one database file. An
 * unfinished job is a row; finished work leaves none.
 */
export function createSqliteEngine(parts: { database: Database; clock: Clock; newId: NewId }): JobQueue {
  const { database, clock } = parts;
  const doorbell = createDoorbell();

  const held = (tx: Parameters<Database['inside']>[0], lease: { id: string; attempt: number }) =>
    database
      .inside(tx)
      .selectFrom('job')
      .select('id')
      .where('id', '=', lease.id)
      .where('attempt', '=', lease.attempt)
      .where('lease_until_ms', 'is not', null)
      .executeTakeFirst();

  const ofQueue = (tx: Parameters<Database['inside']>[0], queue: string) =>
    database.inside(tx).selectFrom('job').selectAll().where('queue', '=', queue).orderBy('id');

  return {
    async enqueue(tx, job) {
      const result = await database
        .inside(tx)
        .insertInto('job')
        .values({
          id: parts.newId(),
          queue: job.queue,
          key: job.key,
          priority: job.priority,
          run_at_ms: job.runAtMs,
          data: JSON.stringify(job.data),
          attempt: 0,
          lease_until_ms: null,
          created_at_ms: clock.nowMs(),
        })
        .onConflict((conflict) => conflict.columns(['queue', 'key']).doNothing())
        .executeTakeFirst();
      tx.afterCommit(() => doorbell.ring(job.queue));
      return result.numInsertedOrUpdatedRows === 1n ? 'enqueued' : 'duplicate';
    },

    async claim(tx, queue, minPriority = 0) {
      const db = database.inside(tx);
      const next = await db
        .selectFrom('job')
        .select('id')
        .where('queue', '=', queue)
        .where('lease_until_ms', 'is', null)
        .where('priority', '>=', minPriority)
        .where('run_at_ms', '<=', clock.nowMs())
        .orderBy('priority', 'desc')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      if (!next) return null;
      const row = await db
        .updateTable('job')
        .set((set) => ({ attempt: set('attempt', '+', 1), lease_until_ms: clock.nowMs() + leaseMs }))
        .where('id', '=', next.id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return toJob(row);
    },

    renew: (lease) =>
      database.write(async (tx) => {
        if (!(await held(tx, lease))) return false;
        const until = { lease_until_ms: clock.nowMs() + leaseMs };
        await database.inside(tx).updateTable('job').set(until).where('id', '=', lease.id).execute();
        return true;
      }),

    holds: async (tx, lease) => (await held(tx, lease)) !== undefined,

    async finish(tx, lease) {
      if (!(await held(tx, lease))) return false;
      await database.inside(tx).deleteFrom('job').where('id', '=', lease.id).execute();
      return true;
    },

    async retryLater(tx, lease, runAtMs) {
      if (!(await held(tx, lease))) return false;
      const back = { lease_until_ms: null, run_at_ms: runAtMs };
      await database.inside(tx).updateTable('job').set(back).where('id', '=', lease.id).execute();
      return true;
    },

    async cancel(tx, queue, key) {
      await database.inside(tx).deleteFrom('job').where('queue', '=', queue).where('key', '=', key).execute();
    },

    async unfinished(tx, queue) {
      return (await ofQueue(tx, queue).execute()).map(toJob);
    },

    async expired(tx, queue) {
      const rows = await ofQueue(tx, queue).where('lease_until_ms', '<=', clock.nowMs()).execute();
      return rows.map(toJob);
    },

    async release(tx, job) {
      const update = database.inside(tx).updateTable('job').set({ lease_until_ms: null, run_at_ms: 0 });
      await update
        .where('id', '=', job.id)
        .where('attempt', '=', job.attempt)
        // Not of a holder who spoke up since the caller looked.
        .where('lease_until_ms', '<=', clock.nowMs())
        .execute();
      tx.afterCommit(() => doorbell.ring(job.queue));
    },

    async expireAll() {
      await database.write(async (tx) => {
        const update = database.inside(tx).updateTable('job').set({ lease_until_ms: 0 });
        await update.where('lease_until_ms', 'is not', null).execute();
      });
    },

    waitForWork: (queue, maxMs, signal) => doorbell.wait(queue, maxMs, signal),
  };
}

function toJob(row: JobRow): Job {
  return { id: row.id, attempt: row.attempt, queue: row.queue, key: row.key, data: JSON.parse(row.data) };
}
