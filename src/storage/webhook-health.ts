import type { DeliveryStore, WebhookHealth } from '../webhooks/delivery-store.ts';
import type { Database } from './database.ts';
import { preparedInside } from './prepared.ts';
import type { WebhookHealthRow } from './webhook-rows.ts';

type HealthMethods = Pick<DeliveryStore, 'health' | 'healths' | 'saveHealth' | 'clearHealth'>;

/** What failed since the last success of a webhook. One that works has no row, and costs no write. */
export function createHealthMethods(database: Database): HealthMethods {
  const statementsInside = preparedInside(database, (connection) => ({
    some: connection.prepare<[string], WebhookHealthRow>(
      'select * from webhook_health where webhook_id in (select value from json_each(?))',
    ),
  }));

  return {
    async health(webhookId) {
      const query = database.read.selectFrom('webhook_health').selectAll();
      const row = await query.where('webhook_id', '=', webhookId).executeTakeFirst();
      return row ? healthOf(row) : null;
    },

    healths(tx, webhookIds) {
      const rows = statementsInside(tx).some.all(JSON.stringify(webhookIds));
      return Promise.resolve(new Map(rows.map((row) => [row.webhook_id, healthOf(row)])));
    },

    async saveHealth(tx, webhookId, health) {
      const columns = {
        failed_attempts: health.failedAttempts,
        failing_since_ms: health.failingSinceMs,
        last_failed_at_ms: health.lastFailedAtMs,
        exhausted: health.exhausted,
        warnings: health.warnings,
        paused_until_ms: health.pausedUntilMs,
        last_error: health.lastError,
      };
      await database
        .inside(tx)
        .insertInto('webhook_health')
        .values({ webhook_id: webhookId, ...columns })
        .onConflict((conflict) => conflict.column('webhook_id').doUpdateSet(columns))
        .execute();
    },

    async clearHealth(tx, webhookId) {
      const row = database.inside(tx).deleteFrom('webhook_health');
      await row.where('webhook_id', '=', webhookId).execute();
    },
  };
}

function healthOf(row: WebhookHealthRow): WebhookHealth {
  return {
    failedAttempts: row.failed_attempts,
    failingSinceMs: row.failing_since_ms,
    lastFailedAtMs: row.last_failed_at_ms,
    exhausted: row.exhausted,
    warnings: row.warnings,
    pausedUntilMs: row.paused_until_ms,
    lastError: row.last_error,
  };
}
