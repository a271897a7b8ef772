import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { changedHeaders, type HeaderChange } from './custom-headers.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { MissedStore } from './missed-store.ts';
import { checkedSecret, randomSecret, replacedSecret, validSecrets } from './secrets.ts';
import type { Pump } from './sending/pump.ts';
import { createStandings, type Standings } from './standing.ts';
import type { TargetGuard } from './targets/target-guard.ts';
import { type EventFilter, everyEvent, type Webhook, type WebhookSummary } from './webhook.ts';
import type { WebhookChange, WebhookStore } from './webhook-store.ts';

/**
 * Webhooks of a stack: where state changes are sent, which of them, and with which secret. It refuses to know
 * who asks (the caller checks rights) and how anything is sent.
 */
export interface WebhookInput {
  readonly endpoint: string;
  /** Null and "" are the same: none. */
  readonly secret?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  readonly filter?: EventFilter | undefined;
  /** Added to those that are there; null removes one. */
  readonly headers?: HeaderChange | undefined;
}

export interface WebhookPatch extends Partial<WebhookInput> {
  /** How long a replaced secret is still used; 0 unless given: it ends at once, with all before it. */
  readonly overlapHours?: number | undefined;
}

/** Sees the webhook as it is inside the transaction that changes it; what it throws ends that. */
type Check = (now: Webhook) => void;

export interface Webhooks extends Standings {
  /** Throws `endpoint-refused`, `endpoint-not-unique`, `invalid-input`. */
  create(stackKey: string, input: WebhookInput): Promise<Webhook>;
  /** Oldest first. `after` is the id of the last one seen. */
  list(
    stackKey: string,
    options: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly WebhookSummary[]>;
  find(id: string): Promise<Webhook | null>;
  /**
   * Disabling stops what is pending; enabling forgets why it was disabled and what failed. Null when there is
   * none. Throws as `create`.
   */
  update(id: string, change: WebhookPatch, check?: Check): Promise<Webhook | null>;
  /** False when there was none. */
  remove(id: string, check?: Check): Promise<boolean>;
  /** A random secret unless one is given. Null when there is no such webhook. */
  regenerateSecret(
    id: string,
    options: { readonly secret?: string | undefined; readonly overlapHours: number },
  ): Promise<Webhook | null>;
  /** Old secrets are not used any more. False when there is no such webhook. */
  endOverlap(id: string): Promise<boolean>;
}

export function createWebhooks(parts: {
  readonly store: WebhookStore;
  readonly missed: MissedStore;
  readonly deliveries: Pick<DeliveryStore, 'stopPending' | 'health' | 'lastAttempt' | 'clearHealth'>;
  readonly targetGuard: TargetGuard;
  readonly pump: Pick<Pump, 'recall'>;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
}): Webhooks {
  const { store, deliveries, targetGuard, transactions, clock } = parts;

  /** `changeOf` sees the webhook as it is inside the transaction. */
  async function change(
    id: string,
    changeOf: (current: Webhook, nowMs: number) => WebhookChange,
  ): Promise<Webhook | null> {
    return transactions.write(async (tx) => {
      const current = await store.find(id, tx);
      if (current === null) return null;
      const nowMs = clock.nowMs();
      const wanted = changeOf(current, nowMs);
      const oldSecrets = wanted.oldSecrets ?? validSecrets(current.oldSecrets, nowMs);
      if ((await store.update(tx, id, { ...wanted, oldSecrets })) === 'not-unique') throw notUnique();
      if (wanted.disabled) await deliveries.stopPending(tx, id);
      const isAnother = wanted.endpoint !== undefined && wanted.endpoint.url !== current.url;
      // While it is disabled, what failed explains why; the old receiver's failures are not a new one's.
      if (wanted.disabled === null || (isAnother && current.enabled)) await deliveries.clearHealth(tx, id);
      tx.afterCommit(() => parts.pump.recall(id));
      return store.find(id, tx);
    });
  }

  async function remove(id: string, check?: Check): Promise<boolean> {
    return transactions.write(async (tx) => {
      const current = check && (await store.find(id, tx));
      if (current) check(current);
      tx.afterCommit(() => parts.pump.recall(id));
      return store.remove(tx, id);
    });
  }

  return {
    ...createStandings(parts),
    list: (stackKey, options) => store.list(stackKey, options),
    find: (id) => store.find(id),
    remove,

    async create(stackKey, input) {
      const secret = checkedSecret(input.secret);
      const headers = changedHeaders({}, input.headers ?? {});
      const { url } = await targetGuard.accept(input.endpoint);
      const webhook = {
        id: parts.newId(),
        stackKey,
        endpoint: input.endpoint,
        url,
        enabled: input.enabled ?? true,
        secret,
        headers,
        filter: input.filter ?? everyEvent,
        createdAtMs: clock.nowMs(),
      };
      const made = await transactions.write(async (tx) => {
        if ((await store.insert(tx, webhook)) === 'not-unique') throw notUnique();
        return store.find(webhook.id, tx);
      });
      if (made === null) throw new Error('a webhook is gone in the transaction that made it');
      return made;
    },

    async update(id, { endpoint, secret: given, enabled, filter, headers, overlapHours = 0 }, check) {
      const secret = given === undefined ? undefined : checkedSecret(given);
      // Names are resolved outside the transaction; a refused endpoint is refused before anything changes.
      const accepted = endpoint === undefined ? null : await targetGuard.accept(endpoint);
      return change(id, (current, nowMs) => {
        check?.(current);
        return {
          ...(endpoint !== undefined && accepted && { endpoint: { endpoint, url: accepted.url } }),
          ...(secret !== undefined && replacedSecret(current, secret, { overlapHours, nowMs })),
          ...(headers && { headers: changedHeaders(current.headers, headers) }),
          ...(filter && { filter }),
          // What it is already, it stays: with the reason, and with what failed since.
          ...(enabled !== undefined &&
            enabled !== current.enabled && { disabled: enabled ? null : { reason: null, atMs: nowMs } }),
        };
      });
    },

    async regenerateSecret(id, { secret: given, overlapHours }) {
      const secret = checkedSecret(given) ?? randomSecret();
      return change(id, (current, nowMs) => replacedSecret(current, secret, { overlapHours, nowMs }));
    },

    async endOverlap(id) {
      return (await change(id, () => ({ oldSecrets: [] }))) !== null;
    },
  };
}

function notUnique(): UserError {
  return new UserError('endpoint-not-unique', 'The stack already has a webhook with this endpoint.', {
    hint: 'Edit that one, or use another path or query.',
    issues: [{ path: 'endpoint', message: 'must be unique in the stack' }],
  });
}
