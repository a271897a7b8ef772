import type { Attempt, DeliveryStore, WebhookHealth } from './delivery-store.ts';
import type { MissedStore } from './missed-store.ts';
import type { WebhookSummary } from './webhook.ts';

/** How webhooks fare, for people: what fails, and what they missed meanwhile. */
export interface Standings {
  /** Null for one that works; without a failed attempt, only a pause is left. */
  health(webhookId: string): Promise<WebhookHealth | null>;
  /**
   * How many state changes it wanted and did not get since it was disabled or began to fail: `maxMissed` stands
   * for that many or more. Null while it is enabled and works.
   */
  missed(webhook: WebhookSummary): Promise<number | null>;
  /** Of the newest state change that was ever sent, without its exchange. */
  lastAttempt(webhookId: string): Promise<Attempt | null>;
}

export const maxMissed = 10_000;

/** The first attempt to fail was made a moment after its state change. */
const beforeFirstFailureMs = 60_000;

export function createStandings(parts: {
  readonly missed: MissedStore;
  readonly deliveries: Pick<DeliveryStore, 'health' | 'lastAttempt'>;
}): Standings {
  const { missed: store, deliveries } = parts;
  return {
    health: (webhookId) => deliveries.health(webhookId),
    lastAttempt: (webhookId) => deliveries.lastAttempt(webhookId),

    async missed(webhook) {
      const health = await deliveries.health(webhook.id);
      const sinceMs = Math.min(
        webhook.disabledAtMs ?? Number.POSITIVE_INFINITY,
        health && health.failedAttempts > 0
          ? health.failingSinceMs - beforeFirstFailureMs
          : Number.POSITIVE_INFINITY,
      );
      if (sinceMs === Number.POSITIVE_INFINITY) return null;
      const { id: webhookId, stackKey, filter, createdAtMs } = webhook;
      const query = { webhookId, stackKey, filter, sinceMs: Math.max(sinceMs, createdAtMs) };
      return store.missed({ ...query, limit: maxMissed });
    },
  };
}
