import type { Tx } from '../tx.ts';
import type { EventFilter, OldSecret, Webhook, WebhookSummary } from './webhook.ts';

export interface NewWebhook {
  readonly id: string;
  readonly stackKey: string;
  readonly endpoint: string;
  /** The normalised URL: unique in the stack, and what requests are sent to. */
  readonly url: string;
  readonly enabled: boolean;
  readonly secret: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly filter: EventFilter;
  readonly createdAtMs: number;
}

/** What a change may touch; what is absent stays. */
export interface WebhookChange {
  readonly endpoint?: { readonly endpoint: string; readonly url: string };
  readonly secret?: string | null;
  readonly oldSecrets?: readonly OldSecret[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly filter?: EventFilter;
  /** Null: enabled. */
  readonly disabled?: { readonly reason: string | null; readonly atMs: number } | null;
}

/** Where webhooks live. Secrets are encrypted at rest. Reads see committed data, with `tx` the transaction. */
export interface WebhookStore {
  /** With its secret, which every reader of the stack may see. */
  find(id: string, tx?: Tx): Promise<Webhook | null>;
  /** Oldest first, without secrets. `after` is the id of the last one seen. */
  list(
    stackKey: string,
    options: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly WebhookSummary[]>;
  /** The enabled webhooks of a stack, inside the transaction that changes a run's state. */
  enabledOf(tx: Tx, stackKey: string): Promise<readonly Pick<Webhook, 'id' | 'filter'>[]>;

  /** 'not-unique' when the stack has a webhook with that URL; of two at once, one gets it. */
  insert(tx: Tx, webhook: NewWebhook): Promise<'inserted' | 'not-unique'>;
  /** Raises the version, whatever changed. */
  update(tx: Tx, id: string, change: WebhookChange): Promise<'updated' | 'missing' | 'not-unique'>;
  /** With its deliveries. False when there was none. */
  remove(tx: Tx, id: string): Promise<boolean>;
}
