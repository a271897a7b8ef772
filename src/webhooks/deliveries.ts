import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { curlCommand } from './curl.ts';
import type { Delivery, DeliveryQuery, DeliveryStore } from './delivery-store.ts';
import type { WebhookStore } from './webhook-store.ts';

/** What people see of deliveries, and what they can do about them. */
export interface Deliveries {
  find(id: string): Promise<Delivery | null>;
  /** Newest first. */
  list(webhookId: string, query: DeliveryQuery): Promise<readonly Delivery[]>;
  /** What is sent, byte for byte. */
  body(delivery: Delivery): Promise<Uint8Array | null>;
  /**
   * A shell command that sends an attempt again, the last one without a number. The address is that of the
   * webhook as it is now. Null when nothing is known of what went over the wire.
   */
  curl(delivery: Delivery, attempt: number | null): Promise<string | null>;
  /**
   * Sends it again now, whatever became of it, with the same id and the whole schedule before it. One that
   * is being sent already is left alone. Null when there is none; throws `webhook-disabled`. `by` is for the log.
   */
  resend(id: string, by: string): Promise<Delivery | null>;
}

export function createDeliveries(parts: {
  readonly store: DeliveryStore;
  readonly webhooks: WebhookStore;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pump: { wake(webhookId: string): void };
}): Deliveries {
  const { store, webhooks, transactions } = parts;
  return {
    find: (id) => store.find(id),
    list: (webhookId, query) => store.listOfWebhook(webhookId, query),
    body: (delivery) => store.body(delivery),

    async curl(delivery, number) {
      const told = delivery.attempts.filter(({ exchange }) => exchange !== null);
      const wanted = number === null ? told.at(-1) : told.find((attempt) => attempt.number === number);
      const [webhook, body] = await Promise.all([webhooks.find(delivery.webhookId), store.body(delivery)]);
      if (!wanted?.exchange || !webhook || !body) return null;
      return curlCommand({ url: webhook.url, headers: wanted.exchange.request.headers, body });
    },

    async resend(id, by) {
      const delivery = await store.find(id);
      if (delivery === null) return null;
      await transactions.write(async (tx) => {
        const webhook = await webhooks.find(delivery.webhookId, tx);
        if (webhook?.enabled === false) throw webhookDisabled();
        await store.restart(tx, id, parts.clock.nowMs());
        tx.afterCommit(() => parts.pump.wake(delivery.webhookId));
      });
      parts.logger.info({ delivery: id, webhook: delivery.webhookId, by }, 'webhook delivery is sent again');
      return store.find(id);
    },
  };
}

export function webhookDisabled(): UserError {
  return new UserError('webhook-disabled', 'The webhook is disabled: nothing is sent to it.', {
    hint: 'Enable it first.',
  });
}
