import type { GateOutcome } from '../runs/approvals/gate.ts';
import type { GateStore } from '../runs/approvals/gate-store.ts';
import type { Database } from './database.ts';

export function createGateStore(database: Database): GateStore {
  return {
    async find(runId, tx) {
      const db = tx ? database.inside(tx) : database.read;
      const row = await db.selectFrom('run_gate').selectAll().where('run_id', '=', runId).executeTakeFirst();
      if (!row) return null;
      return {
        runId,
        stateVersion: row.state_version,
        outcome: row.outcome as GateOutcome,
        judged: row.judged,
        note: row.note,
        atMs: row.at_ms,
      };
    },

    async save(tx, { runId, stateVersion, outcome, judged, note, atMs }) {
      const row = { run_id: runId, state_version: stateVersion, outcome, judged, note, at_ms: atMs };
      const insert = database.inside(tx).insertInto('run_gate').values(row);
      await insert.onConflict((conflict) => conflict.column('run_id').doUpdateSet(row)).execute();
    },

    async clear(tx, runId) {
      await database.inside(tx).deleteFrom('run_gate').where('run_id', '=', runId).execute();
    },
  };
}
