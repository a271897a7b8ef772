import type { NewId } from '../ids.ts';
import type { Reactor } from '../runs/run-event.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { payloadOf } from './payload.ts';
import { wants } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * Writes what a state change means for webhooks: its body, always, because replays and the events API read
 * it later, and a delivery for each enabled webhook that wants it. Sending is the pump's.
 */
export function createWebhookReactor(parts: {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly newId: NewId;
  readonly pump: { wake(webhookId: string): void };
}): Reactor {
  return async (tx, event) => {
    const { run, stack, timestampMs } = event;
    await parts.deliveries.insertPayload(tx, run.id, run.stateVersion, payloadOf(event));
    const enabled = await parts.webhooks.enabledOf(tx, stack.key);
    const concerned = enabled.filter(({ filter }) => wants(filter, run));
    for (const { id: webhookId } of concerned) {
      await parts.deliveries.insert(tx, {
        id: parts.newId(),
        webhookId,
        runId: run.id,
        stateVersion: run.stateVersion,
        createdAtMs: timestampMs,
      });
    }
    tx.afterCommit(() => {
      for (const { id } of concerned) parts.pump.wake(id);
    });
  };
}
