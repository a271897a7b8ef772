import { firstIdAt } from '../ids.ts';
import type { MissedStore } from '../webhooks/missed-store.ts';
import type { Database } from './database.ts';

/** A run that was made longer before still moved: that is not counted, so that old runs need not be looked at. */
const oldestRunMs = 30 * 24 * 60 * 60 * 1000;

export function createMissedStore(database: Database): MissedStore {
  return {
    async missed({ webhookId, stackKey, filter, sinceMs, limit }) {
      let missed = database.read
        .selectFrom('run')
        .innerJoin('run_event', 'run_event.run_id', 'run.id')
        .select('run_event.seq')
        .where('run.stack_key', '=', stackKey)
        .where('run.id', '>=', firstIdAt(sinceMs - oldestRunMs))
        .where('run_event.timestamp_ms', '>=', sinceMs)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('delivery')
                .select('delivery.id')
                .where('delivery.webhook_id', '=', webhookId)
                .whereRef('delivery.run_id', '=', 'run_event.run_id')
                .whereRef('delivery.state_version', '=', 'run_event.state_version')
                .where('delivery.status', '=', 'delivered'),
            ),
          ),
        )
        .limit(limit);
      if (filter.states) missed = missed.where('run_event.state', 'in', filter.states);
      if (filter.runTypes) missed = missed.where('run.type', 'in', filter.runTypes);
      const row = await database.read
        .selectFrom(missed.as('missed'))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirst();
      return row?.count ?? 0;
    },
  };
}
