import type { Schema } from './schema.ts';

/**
 * Where encrypted values lie, and the purpose that each is sealed for: what the stores seal and open by, and what a
 * rotation of the key walks through. test/storage/sealed-columns.test.ts finds a column that is missing here.
 */
export interface SealedColumn {
  readonly table: keyof Schema;
  readonly column: string;
  /** The columns that name a row, in the order of its primary key. */
  readonly key: readonly string[];
  purpose(...key: readonly (string | number)[]): string;
}

export const purposes = {
  variable: (stackKey: string, name: string) => `stack ${stackKey} variable ${name}`,
  frozen: (runId: string) => `run ${runId} frozen`,
  steps: (runId: string) => `run ${runId} steps`,
  document: (runId: string) => `run ${runId} document`,
  plan: (runId: string) => `run ${runId} plan`,
  webhook: (id: string, column: 'secret' | 'old_secrets' | 'headers') =>
    column === 'secret' ? `webhook:${id}` : `webhook:${id}:${column}`,
  answer: (actor: string, key: string) => `idempotency ${actor} ${key}`,
  sample: (id: string) => `policy sample ${id}`,
  canary: () => 'this database belongs to this key',
};

const text = (value: string | number | undefined): string => String(value);

export const sealedColumns: readonly SealedColumn[] = [
  {
    ...{ table: 'stack_variable', column: 'value', key: ['stack_key', 'name'] },
    purpose: (stackKey, name) => purposes.variable(text(stackKey), text(name)),
  },
  { table: 'run_box', column: 'box', key: ['run_id'], purpose: (id) => purposes.frozen(text(id)) },
  { table: 'run_plan', column: 'steps', key: ['run_id'], purpose: (id) => purposes.steps(text(id)) },
  { table: 'run_plan', column: 'document', key: ['run_id'], purpose: (id) => purposes.document(text(id)) },
  { table: 'run_plan', column: 'file', key: ['run_id'], purpose: (id) => purposes.plan(text(id)) },
  ...(['secret', 'old_secrets', 'headers'] as const).map(
    (column): SealedColumn => ({
      ...{ table: 'webhook', column, key: ['id'] },
      purpose: (id) => purposes.webhook(text(id), column),
    }),
  ),
  {
    ...{ table: 'idempotency', column: 'kept', key: ['actor_key', 'key'] },
    purpose: (actor, key) => purposes.answer(text(actor), text(key)),
  },
  { table: 'policy_sample', column: 'input', key: ['id'], purpose: (id) => purposes.sample(text(id)) },
  { table: 'canary', column: 'box', key: ['id'], purpose: purposes.canary },
];
