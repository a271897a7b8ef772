import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { TargetGuard } from './targets/target-guard.ts';
import { everyEvent, type Webhook, type WebhookSummary } from './webhook.ts';
import type { WebhookChange, WebhookStore } from './webhook-store.ts';

/**
 * Webhooks of a stack: where state changes are sent, and with which secret. It refuses to know who asks
 * (the caller checks rights) and how anything is sent.
 */
export interface WebhookInput {
  readonly endpoint: string;
  readonly secret?: string | null | undefined;
  readonly enabled?: boolean | undefined;
}

export interface Webhooks {
  /** Throws `endpoint-refused`, `endpoint-not-unique`, `invalid-input`. */
  create(stackKey: string, input: WebhookInput): Promise<Webhook>;
  list(
    stackKey: string,
    options: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly WebhookSummary[]>;
  find(id: string): Promise<Webhook | null>;
  /** Disabling stops what is pending. Null when there is none. Throws as `create`. */
  update(id: string, change: Partial<WebhookInput>): Promise<Webhook | null>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  /** A random secret unless one is given. Null when there is no such webhook. */
  regenerateSecret(id: string, secret?: string | null): Promise<string | null>;
}

const maxSecretBytes = 1024;

export function createWebhooks(parts: {
  readonly store: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly targetGuard: TargetGuard;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
}): Webhooks {
  const { store, deliveries, targetGuard, transactions } = parts;

  async function save(id: string, change: WebhookChange): Promise<Webhook | null> {
    return transactions.write(async (tx) => {
      const outcome = await store.update(tx, id, change);
      if (outcome === 'not-unique') throw notUnique();
      if (outcome === 'missing') return null;
      if (change.disabled) await deliveries.stopPending(tx, id);
      return store.find(id, tx);
    });
  }

  return {
    list: (stackKey, options) => store.list(stackKey, options),
    find: (id) => store.find(id),
    remove: (id) => transactions.write((tx) => store.remove(tx, id)),

    async create(stackKey, input) {
      const secret = checkSecret(input.secret);
      const { url } = await targetGuard.accept(input.endpoint);
      const webhook = {
        id: parts.newId(),
        stackKey,
        endpoint: input.endpoint,
        url,
        enabled: input.enabled ?? true,
        secret,
        headers: {},
        filter: everyEvent,
        createdAtMs: parts.clock.nowMs(),
      };
      const outcome = await transactions.write((tx) => store.insert(tx, webhook));
      if (outcome === 'not-unique') throw notUnique();
      const disabledAtMs = webhook.enabled ? null : webhook.createdAtMs;
      return { ...webhook, oldSecrets: [], disabledReason: null, disabledAtMs, version: 1 };
    },

    async update(id, change) {
      const { endpoint, secret, enabled } = change;
      // Names are resolved outside the transaction; a refused endpoint is refused before anything changes.
      const accepted = endpoint === undefined ? null : await targetGuard.accept(endpoint);
      return save(id, {
        ...(endpoint !== undefined && accepted && { endpoint: { endpoint, url: accepted.url } }),
        ...(secret !== undefined && { secret: checkSecret(secret) }),
        ...(enabled !== undefined && {
          disabled: enabled ? null : { reason: null, atMs: parts.clock.nowMs() },
        }),
      });
    },

    async regenerateSecret(id, given) {
      const secret = checkSecret(given) ?? randomBytes(32).toString('base64url');
      const saved = await save(id, { secret });
      return saved === null ? null : secret;
    },
  };
}

function checkSecret(secret: string | null | undefined): string | null {
  if (!secret) return null;
  if (secret.isWellFormed() && Buffer.byteLength(secret) <= maxSecretBytes) return secret;
  const message = `at most ${maxSecretBytes} bytes of well-formed text`;
  throw new UserError('invalid-input', `The secret cannot be used: ${message} are possible.`, {
    issues: [{ path: 'secret', message }],
  });
}

function notUnique(): UserError {
  return new UserError('endpoint-not-unique', 'The stack already has a webhook with this endpoint.', {
    hint: 'Edit that one, or use another path or query.',
    issues: [{ path: 'endpoint', message: 'must be unique in the stack' }],
  });
}
