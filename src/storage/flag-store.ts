import type { FlagStore } from '../runs/flags.ts';
import type { Database } from './database.ts';

export function createFlagStore(database: Database): FlagStore {
  return {
    async add(tx, runId, policyId, flags) {
      if (flags.length === 0) return;
      await database
        .inside(tx)
        .insertInto('run_flag')
        .values(flags.map((flag) => ({ run_id: runId, policy_id: policyId, flag })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async reset(tx, runId, policyId, flags) {
      if (flags.length === 0) return;
      await database
        .inside(tx)
        .deleteFrom('run_flag')
        .where('run_id', '=', runId)
        .where('policy_id', '=', policyId)
        .where('flag', 'in', flags)
        .execute();
    },

    async of(runId, tx) {
      const rows = await (tx ? database.inside(tx) : database.read)
        .selectFrom('run_flag')
        .select('flag')
        .distinct()
        .where('run_id', '=', runId)
        .orderBy('flag')
        .execute();
      return rows.map(({ flag }) => flag);
    },
  };
}
