import { attachesByLabel, type Policy, type PolicyKind, type RegoVersion } from '../policies/policy.ts';
import type { PolicyStore, PolicyVersion } from '../policies/policy-store.ts';
import type { StackSettings } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { Database } from './database.ts';
import type { PolicyRow, PolicyVersionRow } from './policy-rows.ts';

type JoinedRow = PolicyRow & { login: string | null };

export function createPolicyStore(database: Database): PolicyStore {
  const queries = (tx: Tx | undefined) => (tx ? database.inside(tx) : database.read);

  const policies = (tx?: Tx) =>
    queries(tx)
      .selectFrom('policy')
      .leftJoin('account', 'account.id', 'policy.account_id')
      .selectAll('policy')
      .select('account.login');

  /** The index decides; this is asked first because an update has no "on conflict". One writer: no race. */
  async function isTaken(tx: Tx, { id, account, name }: Policy): Promise<boolean> {
    const other = await database
      .inside(tx)
      .selectFrom('policy')
      .select('id')
      .where('account_id', 'is', account?.id ?? null)
      .where(({ eb, fn, val }) => eb(fn('lower', ['name']), '=', fn('lower', [val(name)])))
      .where('id', '<>', id)
      .executeTakeFirst();
    return other !== undefined;
  }

  async function addVersion(tx: Tx, policy: Policy): Promise<void> {
    const row = {
      policy_id: policy.id,
      version: policy.version,
      ...sourceColumns(policy),
      created_at_ms: policy.updatedAtMs,
      created_by: policy.updatedBy,
    };
    await database.inside(tx).insertInto('policy_version').values(row).execute();
  }

  async function attachedTo(id: string, tx?: Tx): Promise<readonly string[]> {
    const query = queries(tx).selectFrom('policy_attachment').select('stack_key').where('policy_id', '=', id);
    return (await query.orderBy('stack_key').execute()).map((row) => row.stack_key);
  }

  return {
    async find(id, tx) {
      const row = await policies(tx).where('policy.id', '=', id).executeTakeFirst();
      return row ? toPolicy(row) : null;
    },

    async list({ account, kind, after, limit }) {
      let query = policies().where('policy.id', '>', after ?? '');
      if (account !== null) query = query.where(({ fn }) => fn('lower', ['account.login']), '=', account);
      if (kind !== undefined) query = query.where('policy.kind', '=', kind);
      return (await query.orderBy('policy.id').limit(limit).execute()).map(toPolicy);
    },

    async ofStack(stackKey, kind, tx) {
      const stack = await queries(tx)
        .selectFrom('stack')
        .select(['account_id', 'settings'])
        .where('key', '=', stackKey)
        .executeTakeFirst();
      if (!stack) return [];
      // Without their bodies: a push asks this of a thousand stacks, and most policies judge others.
      const candidates = await queries(tx)
        .selectFrom('policy')
        .leftJoin('policy_attachment as attached', (join) =>
          join.onRef('attached.policy_id', '=', 'policy.id').on('attached.stack_key', '=', stackKey),
        )
        .select(['policy.id', 'policy.labels', 'attached.stack_key as attached'])
        .where('policy.account_id', '=', stack.account_id)
        .where('policy.kind', '=', kind)
        .execute();
      const { labels } = JSON.parse(stack.settings) as StackSettings;
      const ids = candidates
        .filter(
          (row) =>
            judgesAccount(kind) ||
            row.attached !== null ||
            attachesByLabel({ labels: JSON.parse(row.labels) as string[] }, labels),
        )
        .map(({ id }) => id);
      if (ids.length === 0) return [];
      const rows = await policies(tx).where('policy.id', 'in', ids).orderBy('policy.name').execute();
      return rows.map(toPolicy);
    },

    async ofAccount(accountId, kind, tx) {
      const query = policies(tx).where('policy.account_id', 'is', accountId).where('policy.kind', '=', kind);
      return (await query.orderBy('policy.name').execute()).map(toPolicy);
    },

    async insert(tx, policy) {
      if (await isTaken(tx, policy)) return 'name-taken';
      const row = {
        id: policy.id,
        ...ownColumns(policy),
        account_id: policy.account?.id ?? null,
        kind: policy.kind,
        created_at_ms: policy.createdAtMs,
      };
      await database.inside(tx).insertInto('policy').values(row).execute();
      await addVersion(tx, policy);
      return 'inserted';
    },

    async update(tx, policy, wasVersion) {
      if (await isTaken(tx, policy)) return 'name-taken';
      const db = database.inside(tx);
      const now = db.selectFrom('policy').select(['version', 'digest']).where('id', '=', policy.id);
      const before = await now.executeTakeFirst();
      if (before?.version !== wasVersion) return 'changed-since';
      const isNewBody = before.digest !== policy.digest;
      const next = { ...policy, version: isNewBody ? wasVersion + 1 : wasVersion };
      await db.updateTable('policy').set(ownColumns(next)).where('id', '=', policy.id).execute();
      if (isNewBody) await addVersion(tx, next);
      return 'updated';
    },

    async delete(tx, id) {
      const result = await database.inside(tx).deleteFrom('policy').where('id', '=', id).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },

    async versions(id) {
      const query = database.read.selectFrom('policy_version').selectAll().where('policy_id', '=', id);
      return (await query.orderBy('version', 'desc').execute()).map(toVersion);
    },

    async attach(tx, id, stackKey) {
      await database
        .inside(tx)
        .insertInto('policy_attachment')
        .values({ policy_id: id, stack_key: stackKey })
        .onConflict((conflict) => conflict.columns(['stack_key', 'policy_id']).doNothing())
        .execute();
    },

    async detach(tx, id, stackKey) {
      const attachment = database.inside(tx).deleteFrom('policy_attachment').where('policy_id', '=', id);
      const result = await attachment.where('stack_key', '=', stackKey).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },

    attachedTo,

    async stacksOf(id, tx) {
      const row = await policies(tx).where('policy.id', '=', id).executeTakeFirst();
      if (!row || row.account_id === null) return [];
      const policy = toPolicy(row);
      const attached = new Set(await attachedTo(id, tx));
      const stacks = await queries(tx)
        .selectFrom('stack')
        .select(['key', 'settings'])
        .where('account_id', '=', row.account_id)
        .orderBy('key')
        .execute();
      return stacks
        .filter(
          ({ key, settings }) =>
            judgesAccount(policy.kind) ||
            attached.has(key) ||
            attachesByLabel(policy, (JSON.parse(settings) as StackSettings).labels),
        )
        .map(({ key }) => key);
    },
  };
}

/** Whatever it is attached to: all stacks of its account. */
const judgesAccount = (kind: PolicyKind): boolean => kind === 'NOTIFICATION';

const sourceColumns = ({ body, regoVersion, rules, digest }: Policy) => ({
  ...{ body, digest, rego_version: regoVersion, rules: JSON.stringify(rules) },
});

const ownColumns = (policy: Policy) => ({
  ...sourceColumns(policy),
  name: policy.name,
  description: policy.description,
  labels: JSON.stringify(policy.labels),
  version: policy.version,
  updated_at_ms: policy.updatedAtMs,
  updated_by: policy.updatedBy,
});

const sourceOf = (row: PolicyRow | PolicyVersionRow) => ({
  body: row.body,
  regoVersion: row.rego_version as RegoVersion,
  rules: JSON.parse(row.rules) as string[],
  version: row.version,
  digest: row.digest,
});

function toPolicy(row: JoinedRow): Policy {
  return {
    id: row.id,
    account: row.account_id === null ? null : { id: row.account_id, login: row.login ?? '' },
    name: row.name,
    description: row.description,
    kind: row.kind as PolicyKind,
    labels: JSON.parse(row.labels) as string[],
    ...sourceOf(row),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    updatedBy: row.updated_by,
  };
}

const toVersion = (row: PolicyVersionRow): PolicyVersion => ({
  ...sourceOf(row),
  createdAtMs: row.created_at_ms,
  createdBy: row.created_by,
});
