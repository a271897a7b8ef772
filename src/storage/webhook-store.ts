import type { Updateable } from 'kysely';
import type { Tx } from '../tx.ts';
import type { Webhook, WebhookSummary } from '../webhooks/webhook.ts';
import type { WebhookChange, WebhookStore } from '../webhooks/webhook-store.ts';
import type { Database } from './database.ts';
import type { WebhookRow } from './schema.ts';
import type { SecretBox } from './secret-box.ts';

/** Webhooks in SQLite. A secret is sealed for its own row, so that it cannot be copied to another. */
export function createWebhookStore(database: Database, secrets: SecretBox): WebhookStore {
  const queries = (tx: Tx | undefined) => (tx ? database.inside(tx) : database.read);
  const purpose = (id: string) => `webhook:${id}`;
  const seal = (id: string, secret: string | null) =>
    secret === null ? null : secrets.seal(purpose(id), secret);

  function withSecret(row: WebhookRow): Webhook {
    const secret = row.secret && secrets.open(purpose(row.id), row.secret).toString('utf8');
    return { ...summaryOf(row), secret };
  }

  function columnsOf(id: string, change: WebhookChange): Updateable<WebhookRow> {
    return {
      ...(change.endpoint && { endpoint: change.endpoint.endpoint, endpoint_key: change.endpoint.url }),
      ...(change.secret !== undefined && { secret: seal(id, change.secret) }),
      ...(change.enabled && {
        enabled: change.enabled.enabled ? 1 : 0,
        disabled_reason: change.enabled.disabledReason,
      }),
    };
  }

  /** The index decides; this is asked first because an update has no "on conflict". One writer: no race. */
  async function isTaken(tx: Tx, id: string, url: string): Promise<boolean> {
    const other = await database
      .inside(tx)
      .selectFrom('webhook as other')
      .innerJoin('webhook as own', 'own.stack_key', 'other.stack_key')
      .select('other.id')
      .where('own.id', '=', id)
      .where('other.id', '<>', id)
      .where('other.endpoint_key', '=', url)
      .executeTakeFirst();
    return other !== undefined;
  }

  return {
    async find(id, tx) {
      const row = await queries(tx).selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? withSecret(row) : null;
    },

    async list(stackKey, { after, limit }) {
      const rows = await database.read
        .selectFrom('webhook')
        .selectAll()
        .where('stack_key', '=', stackKey)
        .where('id', '>', after ?? '')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(summaryOf);
    },

    async enabledOf(tx, stackKey) {
      const rows = await database
        .inside(tx)
        .selectFrom('webhook')
        .select('id')
        .where('stack_key', '=', stackKey)
        .where('enabled', '=', 1)
        .orderBy('id')
        .execute();
      return rows.map(({ id }) => id);
    },

    async insert(tx, webhook) {
      const result = await database
        .inside(tx)
        .insertInto('webhook')
        .values({
          id: webhook.id,
          stack_key: webhook.stackKey,
          endpoint: webhook.endpoint,
          endpoint_key: webhook.url,
          enabled: webhook.enabled ? 1 : 0,
          secret: seal(webhook.id, webhook.secret),
          disabled_reason: null,
          created_at_ms: webhook.createdAtMs,
          version: 1,
        })
        .onConflict((conflict) => conflict.columns(['stack_key', 'endpoint_key']).doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n ? 'inserted' : 'not-unique';
    },

    async update(tx, id, change) {
      if (change.endpoint && (await isTaken(tx, id, change.endpoint.url))) return 'not-unique';
      const result = await database
        .inside(tx)
        .updateTable('webhook')
        .set(columnsOf(id, change))
        .set((row) => ({ version: row('version', '+', 1) }))
        .where('id', '=', id)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n ? 'updated' : 'missing';
    },

    async remove(tx, id) {
      const result = await database.inside(tx).deleteFrom('webhook').where('id', '=', id).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
  };
}

function summaryOf(row: WebhookRow): WebhookSummary {
  return {
    id: row.id,
    stackKey: row.stack_key,
    endpoint: row.endpoint,
    url: row.endpoint_key,
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    createdAtMs: row.created_at_ms,
    version: row.version,
  };
}
