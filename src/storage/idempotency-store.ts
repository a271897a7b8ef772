import type { IdempotencyStore, KeptRequest, KeyPlace } from '../access/idempotency.ts';
import type { Database } from './database.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';

export function createIdempotencyStore(database: Database, box: SecretBox): IdempotencyStore {
  const purpose = ({ actor, key }: KeyPlace) => purposes.answer(actor, key);

  return {
    async find(tx, place) {
      const row = await database
        .inside(tx)
        .selectFrom('idempotency')
        .select(['kept', 'at_ms'])
        .where('actor_key', '=', place.actor)
        .where('key', '=', place.key)
        .executeTakeFirst();
      if (!row) return null;
      const kept = JSON.parse(box.open(purpose(place), row.kept).toString('utf8')) as KeptRequest;
      return { ...kept, atMs: row.at_ms };
    },

    async put(tx, place, kept, atMs) {
      const columns = { kept: box.seal(purpose(place), JSON.stringify(kept)), at_ms: atMs };
      await database
        .inside(tx)
        .insertInto('idempotency')
        .values({ actor_key: place.actor, key: place.key, ...columns })
        .onConflict((conflict) => conflict.columns(['actor_key', 'key']).doUpdateSet(columns))
        .execute();
    },

    async remove(tx, { actor, key }) {
      const query = database.inside(tx).deleteFrom('idempotency').where('actor_key', '=', actor);
      await query.where('key', '=', key).execute();
    },

    async removeBefore(tx, beforeMs, limit) {
      const db = database.inside(tx);
      const result = await db
        .deleteFrom('idempotency')
        .where(({ eb, refTuple, selectFrom }) => {
          const old = selectFrom('idempotency').select(['actor_key', 'key']).where('at_ms', '<', beforeMs);
          return eb(refTuple('actor_key', 'key'), 'in', old.limit(limit).$asTuple('actor_key', 'key'));
        })
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}
