import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { EvaluationFailure } from '../policies/engine.ts';
import type { RecordedDecision } from '../policies/judgement.ts';
import type { PolicyKind } from '../policies/policy.ts';
import type { DecisionStore, PackedSample } from '../policies/policy-store.ts';
import { recordedValues } from '../policies/recorded-values.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { PolicyDecisionRow } from './policy-rows.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';

const deflate = promisify(deflateRaw);
const samplesOfAccount = 100;

export function createDecisionStore(
  database: Database,
  box: SecretBox,
  { clock, newId }: { readonly clock: Clock; readonly newId: NewId },
): DecisionStore {
  async function keepSample(tx: Tx, decision: RecordedDecision, { packed }: PackedSample): Promise<void> {
    const db = database.inside(tx);
    const { id, policy, accountId } = decision;
    // It may have been deleted while it judged, and its samples with it.
    const there = await db.selectFrom('policy').select('id').where('id', '=', policy.id).executeTakeFirst();
    if (!there) return;
    const row = {
      id,
      policy_id: policy.id,
      policy_version: policy.version,
      account_id: accountId,
      ...{ kind: decision.kind, stack_key: decision.stackKey, run_id: decision.runId },
      ...{ subject: decision.subject, outcome: decision.outcome, at_ms: decision.atMs },
      input: box.seal(purposes.sample(id), packed),
    };
    await db.insertInto('policy_sample').values(row).execute();
    const ofAccount = db.selectFrom('policy_sample').select('id').where('account_id', 'is', accountId);
    const newest = ofAccount.orderBy('id', 'desc').offset(samplesOfAccount).limit(1);
    await db
      .deleteFrom('policy_sample')
      .where('account_id', 'is', accountId)
      .where('id', '<=', newest)
      .execute();
  }

  return {
    packSample: async (input) => ({ packed: await deflate(input, { level: constants.Z_BEST_SPEED }) }),

    async record(tx, judgement, about, input) {
      const { policy, sample, flags, ...said } = judgement;
      const decision: RecordedDecision = {
        id: newId(),
        policy: { id: policy.id, name: policy.name, version: policy.version, digest: policy.digest },
        kind: policy.kind,
        ...about,
        ...said,
        values: recordedValues(said.values),
        atMs: clock.nowMs(),
      };
      await database.inside(tx).insertInto('policy_decision').values(toRow(decision)).execute();
      if (sample && input !== null) await keepSample(tx, decision, input);
      return decision;
    },

    async ofRun(runId) {
      const query = database.read.selectFrom('policy_decision').selectAll().where('run_id', '=', runId);
      return (await query.orderBy('id').execute()).map(toDecision);
    },

    async list({ policyId, stackKey, before, limit }) {
      let query = database.read.selectFrom('policy_decision').selectAll();
      if (policyId !== undefined) query = query.where('policy_id', '=', policyId);
      if (stackKey !== undefined) query = query.where('stack_key', '=', stackKey);
      if (before !== null) query = query.where('id', '<', before);
      return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toDecision);
    },

    async deleteBefore(tx, atMs, limit) {
      const db = database.inside(tx);
      const ofNoRun = db.selectFrom('policy_decision').select('id').where('run_id', 'is', null);
      const old = ofNoRun.where('at_ms', '<', atMs).limit(limit);
      const result = await db.deleteFrom('policy_decision').where('id', 'in', old).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

function toRow(decision: RecordedDecision): PolicyDecisionRow {
  const { policy, failure } = decision;
  return {
    id: decision.id,
    ...{ policy_id: policy.id, policy_name: policy.name },
    ...{ policy_version: policy.version, policy_digest: policy.digest },
    kind: decision.kind,
    ...{ account_id: decision.accountId, stack_key: decision.stackKey, run_id: decision.runId },
    subject: decision.subject,
    outcome: decision.outcome,
    messages: JSON.stringify(decision.messages),
    result: JSON.stringify(decision.values),
    failure: failure && JSON.stringify(failure),
    input_digest: decision.inputDigest,
    engine: decision.engine,
    duration_ms: Math.round(decision.durationMs),
    at_ms: decision.atMs,
  };
}

function toDecision(row: PolicyDecisionRow): RecordedDecision {
  return {
    id: row.id,
    policy: {
      ...{ id: row.policy_id, name: row.policy_name },
      ...{ version: row.policy_version, digest: row.policy_digest },
    },
    kind: row.kind as PolicyKind,
    ...{ accountId: row.account_id, stackKey: row.stack_key, runId: row.run_id },
    subject: row.subject,
    outcome: row.outcome,
    messages: JSON.parse(row.messages) as string[],
    values: JSON.parse(row.result) as Record<string, unknown>,
    failure: row.failure === null ? null : (JSON.parse(row.failure) as EvaluationFailure),
    inputDigest: row.input_digest,
    engine: row.engine,
    durationMs: row.duration_ms,
    atMs: row.at_ms,
  };
}
