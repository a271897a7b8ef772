import type { Updateable } from 'kysely';
import type { Tx } from '../tx.ts';
import type { Headers } from '../webhooks/custom-headers.ts';
import type { EventFilter, OldSecret, Webhook, WebhookSummary } from '../webhooks/webhook.ts';
import type { WebhookChange, WebhookStore } from '../webhooks/webhook-store.ts';
import type { Database } from './database.ts';
import { purposes } from './sealed-columns.ts';
import type { SecretBox } from './secret-box.ts';
import type { WebhookRow } from './webhook-rows.ts';

type SealedColumn = 'secret' | 'old_secrets' | 'headers';

/** Webhooks in SQLite. What is secret is sealed for its own row, so that it cannot be copied to another. */
export function createWebhookStore(database: Database, secrets: SecretBox): WebhookStore {
  const queries = (tx: Tx | undefined) => (tx ? database.inside(tx) : database.read);

  function seal(id: string, column: SealedColumn, text: string | null): Uint8Array | null {
    return text === null ? null : secrets.seal(purposes.webhook(id, column), text);
  }

  function open(row: WebhookRow, column: SealedColumn): string | null {
    const sealed = row[column];
    return sealed && secrets.open(purposes.webhook(row.id, column), sealed).toString('utf8');
  }

  function headersOf(row: WebhookRow): Headers {
    const headers = open(row, 'headers');
    return headers === null ? {} : (JSON.parse(headers) as Headers);
  }

  function withoutSecrets(row: WebhookRow): WebhookSummary {
    return {
      id: row.id,
      stackKey: row.stack_key,
      endpoint: row.endpoint,
      url: row.endpoint_key,
      enabled: row.enabled === 1,
      filter: filterOf(row.filter),
      headerNames: Object.keys(headersOf(row)),
      disabledReason: row.disabled_reason,
      disabledAtMs: row.disabled_at_ms,
      createdAtMs: row.created_at_ms,
      version: row.version,
    };
  }

  function withSecrets(row: WebhookRow): Webhook {
    const oldSecrets = open(row, 'old_secrets');
    return {
      ...withoutSecrets(row),
      secret: open(row, 'secret'),
      oldSecrets: oldSecrets === null ? [] : (JSON.parse(oldSecrets) as OldSecret[]),
      headers: headersOf(row),
    };
  }

  function columnsOf(id: string, change: WebhookChange): Updateable<WebhookRow> {
    const { endpoint, secret, oldSecrets, headers, filter, disabled } = change;
    return {
      ...(endpoint && { endpoint: endpoint.endpoint, endpoint_key: endpoint.url }),
      ...(secret !== undefined && { secret: seal(id, 'secret', secret) }),
      ...(oldSecrets && { old_secrets: seal(id, 'old_secrets', unlessEmpty(oldSecrets)) }),
      ...(headers && { headers: seal(id, 'headers', unlessEmpty(headers)) }),
      ...(filter && { filter: JSON.stringify(filter) }),
      ...(disabled !== undefined && {
        enabled: disabled === null ? 1 : 0,
        disabled_reason: disabled?.reason ?? null,
        disabled_at_ms: disabled?.atMs ?? null,
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
      return row ? withSecrets(row) : null;
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
      return rows.map(withoutSecrets);
    },

    async enabledOf(tx, stackKey) {
      const rows = await database
        .inside(tx)
        .selectFrom('webhook')
        .select(['id', 'filter'])
        .where('stack_key', '=', stackKey)
        .where('enabled', '=', 1)
        .orderBy('id')
        .execute();
      return rows.map(({ id, filter }) => ({ id, filter: filterOf(filter) }));
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
          secret: seal(webhook.id, 'secret', webhook.secret),
          old_secrets: null,
          headers: seal(webhook.id, 'headers', unlessEmpty(webhook.headers)),
          filter: JSON.stringify(webhook.filter),
          disabled_reason: null,
          disabled_at_ms: webhook.enabled ? null : webhook.createdAtMs,
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

const unlessEmpty = (value: object): string | null =>
  Object.keys(value).length === 0 ? null : JSON.stringify(value);

const filterOf = (json: string) => JSON.parse(json) as EventFilter;
