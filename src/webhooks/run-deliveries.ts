import type { RunState, RunType } from '../runs/run.ts';
import type { DeliveryStatus, DeliveryStore, DeliverySummary } from './delivery-store.ts';
import { type WebhookSummary, wants } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * Whether everything a run had to tell was told: each of its states for each webhook of its stack.
 *
 * - green: delivered
 * - amber: under way, or to be tried again
 * - red: given up, skipped, or never queued although the webhook wants it
 * - grey: the webhook does not want it, or did not exist yet
 */
export type Light = 'green' | 'amber' | 'red' | 'grey';

export interface ToldState {
  readonly state: RunState;
  readonly stateVersion: number;
  readonly light: Light;
  /** Null when it was never queued. */
  readonly status: DeliveryStatus | null;
  readonly deliveryId: string | null;
  readonly nextAttemptAtMs: number | null;
}

export interface ToldWebhook {
  readonly webhook: WebhookSummary;
  readonly states: readonly ToldState[];
  /** Nothing is red or amber. */
  readonly isComplete: boolean;
}

export interface RunToTell {
  readonly id: string;
  readonly stackKey: string;
  readonly type: RunType;
  readonly changes: readonly {
    readonly state: RunState;
    readonly stateVersion: number;
    readonly timestampMs: number;
  }[];
}

export interface RunDeliveries {
  of(run: RunToTell): Promise<readonly ToldWebhook[]>;
}

const pageSize = 200;

export function createRunDeliveries(parts: {
  readonly webhooks: Pick<WebhookStore, 'list'>;
  readonly deliveries: Pick<DeliveryStore, 'listOfRun'>;
}): RunDeliveries {
  async function webhooksOf(stackKey: string): Promise<readonly WebhookSummary[]> {
    const all: WebhookSummary[] = [];
    for (;;) {
      const page = await parts.webhooks.list(stackKey, { after: all.at(-1)?.id ?? null, limit: pageSize });
      all.push(...page);
      if (page.length < pageSize) return all;
    }
  }

  return {
    async of(run) {
      const [webhooks, deliveries] = await Promise.all([
        webhooksOf(run.stackKey),
        parts.deliveries.listOfRun(run.id),
      ]);
      return webhooks.map((webhook) => {
        const own = deliveries.filter(({ webhookId }) => webhookId === webhook.id);
        return toldTo(webhook, run, own);
      });
    },
  };
}

export function toldTo(
  webhook: WebhookSummary,
  run: RunToTell,
  deliveries: readonly DeliverySummary[],
): ToldWebhook {
  const states = run.changes.map((change): ToldState => {
    const { state, stateVersion, timestampMs } = change;
    const delivery = deliveries.find((one) => one.stateVersion === stateVersion) ?? null;
    const isMeant = wants(webhook.filter, { state, type: run.type }) && timestampMs >= webhook.createdAtMs;
    return {
      state,
      stateVersion,
      light: delivery ? lightOf(delivery) : isMeant ? 'red' : 'grey',
      status: delivery?.status ?? null,
      deliveryId: delivery?.id ?? null,
      nextAttemptAtMs: delivery?.nextAttemptAtMs ?? null,
    };
  });
  return { webhook, states, isComplete: states.every(({ light }) => light === 'green' || light === 'grey') };
}

function lightOf({ status, isPlanned }: DeliverySummary): Light {
  switch (status) {
    case 'delivered':
      return 'green';
    case 'pending':
      return 'amber';
    case 'failed':
      return isPlanned ? 'amber' : 'red';
    case 'exhausted':
    case 'skipped':
      return 'red';
  }
}
