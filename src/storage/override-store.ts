import type { Override, OverrideStore } from '../policies/override-store.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { PolicyOverrideRow } from './policy-rows.ts';

export function createOverrideStore(database: Database): OverrideStore {
  const ofChanges = (stackKey: string, changesDigest: string, tx?: Tx) =>
    (tx ? database.inside(tx) : database.read)
      .selectFrom('policy_override')
      .selectAll()
      .where('stack_key', '=', stackKey)
      .where('changes_digest', '=', changesDigest);

  return {
    async insert(tx, override) {
      const row: PolicyOverrideRow = {
        id: override.id,
        stack_key: override.stackKey,
        run_id: override.runId,
        changes_digest: override.changesDigest,
        actor_key: override.actorKey,
        actor_name: override.actorName,
        reason: override.reason,
        at_ms: override.atMs,
      };
      await database.inside(tx).insertInto('policy_override').values(row).execute();
    },

    async find(stackKey, changesDigest, tx) {
      const newest = ofChanges(stackKey, changesDigest, tx).orderBy('id', 'desc');
      const row = await newest.limit(1).executeTakeFirst();
      return row ? toOverride(row) : null;
    },

    async ofChanges(stackKey, changesDigest) {
      return (await ofChanges(stackKey, changesDigest).orderBy('id').execute()).map(toOverride);
    },
  };
}

function toOverride(row: PolicyOverrideRow): Override {
  return {
    id: row.id,
    stackKey: row.stack_key,
    runId: row.run_id,
    changesDigest: row.changes_digest,
    actorKey: row.actor_key,
    actorName: row.actor_name,
    reason: row.reason,
    atMs: row.at_ms,
  };
}
