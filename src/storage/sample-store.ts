import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import type { PolicyKind } from '../policies/policy.ts';
import type { Sample, SampleStore } from '../policies/policy-store.ts';
import type { Database } from './database.ts';
import type { PolicySampleRow } from './policy-rows.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';

const inflate = promisify(inflateRaw);

/** What decision-store.ts keeps. */
export function createSampleStore(database: Database, box: SecretBox): SampleStore {
  const samples = () =>
    database.read
      .selectFrom('policy_sample')
      .select(['id', 'policy_id', 'policy_version', 'kind', 'subject', 'outcome'])
      .select(['stack_key', 'run_id', 'at_ms']);

  return {
    async find(id) {
      const row = await samples().where('id', '=', id).executeTakeFirst();
      return row ? toSample(row) : null;
    },

    async list(policyId) {
      const query = samples().where('policy_id', '=', policyId).orderBy('id', 'desc');
      return (await query.execute()).map(toSample);
    },

    async input(id) {
      const query = database.read.selectFrom('policy_sample').select('input').where('id', '=', id);
      const row = await query.executeTakeFirst();
      if (!row) return null;
      return (await inflate(box.open(purposes.sample(id), row.input))).toString('utf8');
    },

    async deleteBefore(tx, atMs) {
      const old = database.inside(tx).deleteFrom('policy_sample').where('at_ms', '<', atMs);
      return Number((await old.executeTakeFirst()).numDeletedRows);
    },
  };
}

function toSample(row: Omit<PolicySampleRow, 'input' | 'account_id'>): Sample {
  return {
    id: row.id,
    policyId: row.policy_id,
    policyVersion: row.policy_version,
    kind: row.kind as PolicyKind,
    subject: row.subject,
    outcome: row.outcome,
    stackKey: row.stack_key,
    runId: row.run_id,
    atMs: row.at_ms,
  };
}
