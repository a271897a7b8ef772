import type { RunCause, RunCauseStore } from '../runs/run-causes.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { RunCauseRow } from './policy-rows.ts';

export function createRunCauseStore(database: Database): RunCauseStore {
  const from = (tx?: Tx) => (tx ? database.inside(tx) : database.read).selectFrom('run_cause').selectAll();

  return {
    async insert(tx, cause) {
      const row: RunCauseRow = {
        run_id: cause.runId,
        cause_run_id: cause.causeRunId,
        workflow: cause.workflow,
        depth: cause.depth,
        policy_id: cause.policyId,
        policy_name: cause.policyName,
      };
      await database.inside(tx).insertInto('run_cause').values(row).execute();
    },

    async find(runId, tx) {
      const row = await from(tx).where('run_id', '=', runId).executeTakeFirst();
      return row ? toCause(row) : null;
    },

    async ofWorkflow(workflow, tx) {
      return (await from(tx).where('workflow', '=', workflow).orderBy('run_id').execute()).map(toCause);
    },
  };
}

function toCause(row: RunCauseRow): RunCause {
  return {
    runId: row.run_id,
    causeRunId: row.cause_run_id,
    workflow: row.workflow,
    depth: row.depth,
    policyId: row.policy_id,
    policyName: row.policy_name,
  };
}
