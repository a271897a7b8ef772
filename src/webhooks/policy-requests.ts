import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { changedHeaders } from './custom-headers.ts';
import type { DeliveringPolicy, DeliveryStore } from './delivery-store.ts';
import { encodeJson, maxBodyBytes } from './payload.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * What notification policies send to webhooks of the stack that they judge: deliveries of their own, signed and tried
 * again as all are, but no state changes. Neither the state filter of the webhook nor its order of states is about them.
 */
export interface PolicyRequests {
  /** Ids, oldest first. */
  endpointsOf(stackKey: string): Promise<readonly string[]>;
  /** For people, without a full stop; null: it can be sent. */
  refusalOf(request: PolicyRequest): Promise<string | null>;
  /** Only writes rows; for what is not refused. Nothing happens when the webhook is gone or disabled by now. */
  send(tx: Tx, request: PolicyRequest): Promise<void>;
}

interface PolicyRequest {
  readonly webhookId: string;
  readonly stackKey: string;
  readonly runId: string;
  readonly stateVersion: number;
  readonly policy: DeliveringPolicy;
  /** Left out: the body that tells of the state change. */
  readonly payload?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A stack has some; input for policies is not made for more. */
const maxEndpoints = 200;

export function createPolicyRequests(parts: {
  readonly webhooks: Pick<WebhookStore, 'list' | 'find'>;
  readonly deliveries: Pick<DeliveryStore, 'payload' | 'insertRequest'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly pump: { wake(webhookId: string): void };
}): PolicyRequests {
  const { webhooks, deliveries, clock, newId, pump } = parts;

  return {
    async endpointsOf(stackKey) {
      const all = await webhooks.list(stackKey, { after: null, limit: maxEndpoints });
      return all.map(({ id }) => id);
    },

    async refusalOf({ webhookId, stackKey, payload, headers }) {
      const webhook = await webhooks.find(webhookId);
      if (webhook?.stackKey !== stackKey) return `the stack has no webhook ${JSON.stringify(webhookId)}`;
      if (!webhook.enabled) return `the webhook ${webhookId} is disabled`;
      const size = payload === undefined ? 0 : encodeJson(payload).length;
      if (size > maxBodyBytes) return `the payload has ${size} bytes; ${maxBodyBytes} are the most`;
      return headersRefusal(headers);
    },

    async send(tx, { webhookId, runId, stateVersion, policy: { id, name }, payload, headers }) {
      const webhook = await webhooks.find(webhookId, tx);
      if (!webhook?.enabled) return;
      const body =
        payload === undefined ? await deliveries.payload(runId, stateVersion, tx) : encodeJson(payload);
      if (body === null) return;
      await deliveries.insertRequest(tx, {
        ...{ id: newId(), webhookId, runId, stateVersion, createdAtMs: clock.nowMs() },
        ...{ policy: { id, name }, headers: changedHeaders({}, headers), body },
      });
      tx.afterCommit(() => pump.wake(webhookId));
    },
  };
}

/** By the rules for custom headers of webhooks. */
function headersRefusal(headers: Readonly<Record<string, string>>): string | null {
  try {
    changedHeaders({}, headers);
    return null;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}
