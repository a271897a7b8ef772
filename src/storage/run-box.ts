import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Frozen, RunStore, SealedPlan, StoredPlan } from '../runs/run-store.ts';
import type { Database } from './database.ts';
import type { RunPlanRow } from './schema.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

type BoxMethods = Pick<
  RunStore,
  'sealPlan' | 'savePlan' | 'plan' | 'planFile' | 'saveFrozen' | 'frozen' | 'forgetSecrets'
>;

/** The parts of a run that are large or secret: its plan, and what it was frozen with. */
export function createRunBox(database: Database, box: SecretBox): BoxMethods {
  return {
    async sealPlan(runId, { steps, marks = [], hasChanges, file }) {
      const row: RunPlanRow = {
        run_id: runId,
        steps: box.seal(purposes.steps(runId), await deflate(JSON.stringify({ steps, marks }))),
        has_changes: hasChanges ? 1 : 0,
        file: file && box.seal(purposes.plan(runId), file),
      };
      return row as unknown as SealedPlan;
    },

    async savePlan(tx, plan) {
      const { run_id, ...columns } = plan as unknown as RunPlanRow;
      await database
        .inside(tx)
        .insertInto('run_plan')
        .values({ run_id, ...columns })
        .onConflict((conflict) => conflict.column('run_id').doUpdateSet(columns))
        .execute();
    },

    async plan(runId) {
      const query = database.read.selectFrom('run_plan').select(['steps', 'has_changes']);
      const row = await query.where('run_id', '=', runId).executeTakeFirst();
      if (!row) return null;
      const text = (await inflate(box.open(purposes.steps(runId), row.steps))).toString('utf8');
      const { steps, marks } = JSON.parse(text) as Required<Pick<StoredPlan, 'steps' | 'marks'>>;
      return { steps, hasChanges: row.has_changes === 1, ...(marks.length > 0 ? { marks } : {}) };
    },

    async planFile(runId) {
      const query = database.read.selectFrom('run_plan').select('file').where('run_id', '=', runId);
      const file = (await query.executeTakeFirst())?.file;
      return file ? box.open(purposes.plan(runId), file) : null;
    },

    async saveFrozen(tx, runId, frozen) {
      const sealed = box.seal(purposes.frozen(runId), JSON.stringify(frozen));
      await database
        .inside(tx)
        .insertInto('run_box')
        .values({ run_id: runId, box: sealed })
        .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ box: sealed }))
        .execute();
    },

    async frozen(runId, tx) {
      const db = tx ? database.inside(tx) : database.read;
      const row = await db.selectFrom('run_box').select('box').where('run_id', '=', runId).executeTakeFirst();
      if (!row) return null;
      return JSON.parse(box.open(purposes.frozen(runId), row.box).toString('utf8')) as Frozen;
    },

    async forgetSecrets(tx, runId) {
      const db = database.inside(tx);
      await db.deleteFrom('run_box').where('run_id', '=', runId).execute();
      await db.updateTable('run_plan').set({ file: null }).where('run_id', '=', runId).execute();
    },
  };
}
