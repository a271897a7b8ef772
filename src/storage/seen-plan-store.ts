import type { SeenPlan, SeenPlanStore } from '../runs/plan/seen-plans.ts';
import type { Database } from './database.ts';
import type { PlanSeenRow } from './schema.ts';

export function createSeenPlanStore(database: Database): SeenPlanStore {
  return {
    async put(tx, { person, stackKey, runId, digest, seenAtMs }, keep) {
      const db = database.inside(tx);
      const columns = { digest, seen_at_ms: seenAtMs };
      await db
        .insertInto('plan_seen')
        .values({ person, stack_key: stackKey, run_id: runId, ...columns })
        .onConflict((conflict) => conflict.columns(['person', 'stack_key', 'run_id']).doUpdateSet(columns))
        .execute();
      const ofBoth = db
        .selectFrom('plan_seen')
        .where('person', '=', person)
        .where('stack_key', '=', stackKey);
      const newest = ofBoth
        .select('run_id')
        .orderBy('seen_at_ms', 'desc')
        .orderBy('run_id', 'desc')
        .limit(keep);
      await db
        .deleteFrom('plan_seen')
        .where('person', '=', person)
        .where('stack_key', '=', stackKey)
        .where('run_id', 'not in', newest)
        .execute();
    },

    async listOf(person, stackKey) {
      const query = database.read.selectFrom('plan_seen').selectAll().where('person', '=', person);
      const ofBoth = query.where('stack_key', '=', stackKey);
      return (await ofBoth.orderBy('seen_at_ms', 'desc').orderBy('run_id', 'desc').execute()).map(toSeenPlan);
    },
  };
}

function toSeenPlan(row: PlanSeenRow): SeenPlan {
  const { person, digest } = row;
  return { person, stackKey: row.stack_key, runId: row.run_id, digest, seenAtMs: row.seen_at_ms };
}
