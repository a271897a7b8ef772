import type { Logger } from '../../logger.ts';
import type { Tx } from '../../tx.ts';
import type { WebhookHealth } from '../delivery-store.ts';

/**
 * What somebody should hear of. Facts only: who is told, where and in which words is decided elsewhere.
 * - failing: it has been for an hour, a day, two days
 * - exhausted: a delivery was given up
 * - disabled: nothing is sent to it any more
 */
export type Notice = {
  readonly webhookId: string;
  /** The run whose state could not be told. */
  readonly runId: string;
  readonly deliveryId: string;
  readonly stateVersion: number;
} & (
  | { readonly kind: 'failing' | 'exhausted'; readonly health: WebhookHealth }
  | { readonly kind: 'disabled'; readonly reason: string }
);

/** Told once each, inside the transaction in which it became so: a rollback takes it back. */
export interface Notices {
  notify(tx: Tx, notice: Notice): Promise<void>;
}

/** Ids only: an endpoint's path or query may be a credential. */
export function loggedNotices(logger: Logger): Notices {
  return {
    notify(tx, { kind, webhookId: webhook, deliveryId: delivery, runId: run, ...facts }) {
      tx.afterCommit(() => logger.warn({ kind, webhook, delivery, run, ...facts }, 'webhook notice'));
      return Promise.resolve();
    },
  };
}
