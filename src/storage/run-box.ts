import { createRecent } from '../runs/plan/recent.ts';
import type { Frozen, RunStore, SealedPlan } from '../runs/run-store.ts';
import type { Database } from './database.ts';
import { packDocument, unpackDocument } from './document-text.ts';
import { packPlan, type UnpackedPlan, unpackPlan } from './plan-text.ts';
import type { RunPlanRow } from './schema.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';

type BoxMethods = Pick<
  RunStore,
  | 'sealPlan'
  | 'savePlan'
  | 'plan'
  | 'planDocument'
  | 'planVersion'
  | 'planFile'
  | 'saveFrozen'
  | 'frozen'
  | 'forgetSecrets'
>;

/** Of plans that were read a moment ago, all together, as JSON; in memory they take a multiple. */
const mostKept = 32 * 1024 * 1024;
const keptMs = 60_000;

/** The parts of a run that are large or secret: its plan, and what it was frozen with. */
export function createRunBox(database: Database, box: SecretBox): BoxMethods {
  const recent = createRecent<UnpackedPlan>({
    mostSize: mostKept,
    sizeOf: ({ bytes }) => bytes,
    forMs: keptMs,
  });

  return {
    async sealPlan(runId, { steps, marks = [], document, hasChanges, file }) {
      const row: RunPlanRow = {
        run_id: runId,
        steps: box.seal(purposes.steps(runId), await packPlan({ steps, marks })),
        document: document ? box.seal(purposes.document(runId), await packDocument(document)) : null,
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
      const packed = box.open(purposes.steps(runId), row.steps);
      const { steps, marks } = await recent.get(sealedName(row.steps), () => unpackPlan(packed));
      return { steps, hasChanges: row.has_changes === 1, ...(marks.length > 0 ? { marks } : {}) };
    },

    async planDocument(runId) {
      const query = database.read.selectFrom('run_plan').select('document').where('run_id', '=', runId);
      const document = (await query.executeTakeFirst())?.document;
      return document ? unpackDocument(box.open(purposes.document(runId), document)) : null;
    },

    async planVersion(runId) {
      const query = database.read.selectFrom('run_plan').select('steps').where('run_id', '=', runId);
      const row = await query.executeTakeFirst();
      return row ? sealedName(row.steps) : null;
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

/** No two values are sealed alike: the beginning has the nonce and the tag (secret-box.ts). */
const sealedName = (sealed: Uint8Array): string => Buffer.from(sealed.subarray(0, 29)).toString('base64');
