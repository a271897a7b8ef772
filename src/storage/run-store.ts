import BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import type { Run, RunType } from '../runs/run.ts';
import type { RunChange, RunStore } from '../runs/run-store.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import { createRunBox } from './run-box.ts';
import { createRunRecords } from './run-records.ts';
import { toRun } from './run-rows.ts';
import type { RunRow } from './schema.ts';
import type { SecretBox } from './secret-box.ts';
import { createStackSummaries } from './stack-summary.ts';

// In the very words of the partial indexes: SQLite compares texts, and sees no parameters.
const isUnfinished = sql<boolean>`state not in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED')`;
const isQueued = sql<boolean>`state = 'QUEUED'`;
const isActive = sql<boolean>`type in ('TRACKED', 'TASK', 'DESTROY')
  and state not in ('QUEUED', 'FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED')`;

const maxOfPullRequest = 500;

export function createRunStore(database: Database, box: SecretBox): RunStore {
  const from = (tx?: Tx) => (tx ? database.inside(tx) : database.read);

  const ofStack = (stackKey: string, tx?: Tx) =>
    from(tx).selectFrom('run').selectAll().where('stack_key', '=', stackKey);
  const ofType = (stackKey: string, type: RunType, tx?: Tx) => ofStack(stackKey, tx).where('type', '=', type);
  const newest = async (query: ReturnType<typeof ofType>) => {
    const row = await query.orderBy('id', 'desc').limit(1).executeTakeFirst();
    return row ? toRun(row) : null;
  };

  return {
    ...createRunBox(database, box),
    ...createRunRecords(database),
    ...createStackSummaries(database),

    async find(id, tx) {
      const row = await from(tx).selectFrom('run').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toRun(row) : null;
    },

    async idsOfStack(tx, stackKey) {
      const query = from(tx).selectFrom('run').select('id').where('stack_key', '=', stackKey);
      return (await query.orderBy('id').execute()).map(({ id }) => id);
    },

    newestOfType: (stackKey, type, tx) => newest(ofType(stackKey, type, tx)),
    newestOfCommit(stackKey, type, hash, which, tx) {
      const query = ofType(stackKey, type, tx).where('commit_hash', '=', hash);
      return newest(which === 'any' ? query : query.where('untrusted', '=', 0));
    },
    newestFinished: (stackKey, type, tx) =>
      newest(ofType(stackKey, type, tx).where('state', '=', 'FINISHED')),
    newestOfBranch: (stackKey, type, branch, tx) =>
      newest(ofType(stackKey, type, tx).where('branch', '=', branch)),

    async ofPullRequest(repositoryId, number, tx) {
      const db = from(tx);
      const stacks = db.selectFrom('stack').select('key').where('repository_id', '=', repositoryId);
      const query = db.selectFrom('run').selectAll().where('stack_key', 'in', stacks);
      const ofNumber = query.where('pull_request_number', '=', number);
      return (await ofNumber.orderBy('id', 'desc').limit(maxOfPullRequest).execute()).map(toRun);
    },

    newestOfPullRequest(stackKey, number, { type, createdBeforeMs, isOver }, tx) {
      let query = ofStack(stackKey, tx).where('pull_request_number', '=', number);
      if (type !== undefined) query = query.where('type', '=', type);
      if (createdBeforeMs !== undefined) query = query.where('created_at_ms', '<', createdBeforeMs);
      return newest(isOver ? query.where(sql<boolean>`not (${isUnfinished})`) : query);
    },

    async unfinished(stackKey, tx) {
      return (await ofStack(stackKey, tx).where(isUnfinished).orderBy('id').execute()).map(toRun);
    },

    async unfinishedPreviews(stackKey, branch, tx) {
      const query = ofStack(stackKey, tx).where(isUnfinished).where('type', '=', 'PROPOSED');
      return (await query.where('branch', '=', branch).orderBy('id').execute()).map(toRun);
    },

    async queuedPreviews(stackKey, tx) {
      const query = ofStack(stackKey, tx).where(isQueued).where('type', '=', 'PROPOSED');
      return (await query.orderBy('priority', 'desc').orderBy('id').execute()).map(toRun);
    },

    async newestBlocking(stackKey, limit, tx) {
      // One walk for each type, newest first: previews may be thousands.
      const ofTypes = (['TRACKED', 'TASK', 'DESTROY'] as const).map((type) =>
        ofType(stackKey, type, tx).orderBy('id', 'desc').limit(limit).execute(),
      );
      const found = (await Promise.all(ofTypes)).flat().map(toRun);
      return found.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
    },

    async activeRun(stackKey, tx) {
      // By itself, SQLite would take the index that has the type, and with it all that the stack ever ran.
      const { rows } = await sql<RunRow>`
        select * from run indexed by run_one_blocking
        where stack_key = ${stackKey} and ${isActive}`.execute(from(tx));
      return rows[0] ? toRun(rows[0]) : null;
    },

    async firstQueued(stackKey, startedBy, tx) {
      let query = ofStack(stackKey, tx).where(isQueued).where('type', '!=', 'PROPOSED');
      if (startedBy !== null) query = query.where('started_by', '=', startedBy);
      const row = await query.orderBy('priority', 'desc').orderBy('id').limit(1).executeTakeFirst();
      return row ? toRun(row) : null;
    },

    async countQueued(stackKey) {
      const query = database.read.selectFrom('run').select(({ fn }) => fn.countAll<number>().as('count'));
      const row = await query
        .where('stack_key', '=', stackKey)
        .where(isQueued)
        .where('type', '!=', 'PROPOSED')
        .executeTakeFirstOrThrow();
      return row.count;
    },

    async stacksWithQueued() {
      const query = database.read.selectFrom('run').select('stack_key').distinct().where(isQueued);
      return (await query.execute()).map((row) => row.stack_key);
    },

    async inState(states) {
      const rows = await database.read
        .selectFrom('run')
        .selectAll()
        .where(isUnfinished)
        .where('state', 'in', states)
        .orderBy('id')
        .execute();
      return rows.map(toRun);
    },

    async insert(tx, run) {
      const row = await database
        .inside(tx)
        .insertInto('run')
        .values({
          id: run.id,
          stack_key: run.stackKey,
          type: run.type,
          state: 'QUEUED',
          state_version: 1,
          branch: run.branch,
          commit_hash: run.commit.hash,
          commit: JSON.stringify(run.commit),
          pull_request: run.pullRequest ? JSON.stringify(run.pullRequest) : null,
          pull_request_number: run.pullRequest?.number ?? null,
          untrusted: run.isUntrusted ? 1 : 0,
          created_at_ms: run.createdAtMs,
          triggered_by: run.triggeredBy,
          started_by: run.startedBy,
          command: run.command ?? null,
          restarts: 0,
          had_worker: 0,
          renewed: 0,
          priority: run.priority,
          log_removed: 0,
          dedupe_key: run.dedupeKey,
        })
        .onConflict((conflict) => conflict.columns(['stack_key', 'dedupe_key']).doNothing())
        .returningAll()
        .executeTakeFirst();
      return row ? toRun(row) : 'duplicate';
    },

    async change(tx, id, stateVersion, change) {
      try {
        return await compareAndSet(database, tx, id, stateVersion, change);
      } catch (error) {
        if (isStackMutex(error)) return 'blocked';
        throw error;
      }
    },

    async setRenewed(tx, id) {
      await database.inside(tx).updateTable('run').set({ renewed: 1 }).where('id', '=', id).execute();
    },

    async setPullRequest(tx, id, pullRequest) {
      const set = { pull_request: JSON.stringify(pullRequest), pull_request_number: pullRequest.number };
      await database.inside(tx).updateTable('run').set(set).where('id', '=', id).execute();
    },

    async setPriority(tx, id, priority) {
      await database.inside(tx).updateTable('run').set({ priority }).where('id', '=', id).execute();
    },
  };
}

async function compareAndSet(
  database: Database,
  tx: Tx,
  id: string,
  stateVersion: number,
  change: RunChange,
): Promise<Run | null> {
  const row = await database
    .inside(tx)
    .updateTable('run')
    .set({
      state: change.state,
      state_version: stateVersion + 1,
      note: change.note,
      ...(change.outcome === undefined ? {} : { outcome: change.outcome }),
      ...(change.trouble === undefined ? {} : { trouble: JSON.stringify(change.trouble) }),
      ...(change.delta === undefined ? {} : { delta: JSON.stringify(change.delta) }),
      ...(change.planDigest === undefined ? {} : { plan_digest: change.planDigest }),
      ...(change.planLikeness === undefined ? {} : { plan_likeness: change.planLikeness }),
      ...(change.changesDigest === undefined ? {} : { changes_digest: change.changesDigest }),
      ...(change.restarts === undefined ? {} : { restarts: change.restarts }),
      ...(change.hadWorker === undefined ? {} : { had_worker: 1 }),
    })
    .where('id', '=', id)
    .where('state_version', '=', stateVersion)
    .returningAll()
    .executeTakeFirst();
  return row ? toRun(row) : null;
}

/** The partial unique index `run_one_blocking` names its only column. */
function isStackMutex(error: unknown): boolean {
  return (
    error instanceof BetterSqlite3.SqliteError &&
    error.code === 'SQLITE_CONSTRAINT_UNIQUE' &&
    error.message.endsWith(': run.stack_key')
  );
}
