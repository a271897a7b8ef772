import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Transactions } from '../tx.ts';
import { webhookDisabled } from './deliveries.ts';
import type { Replay, ReplayCount, ReplayRange, ReplayStore } from './replay-store.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * Sends the state changes of a while to a webhook again. Here a replay is only begun and ended;
 * replay-loop.ts carries it out.
 */
export interface Replays {
  /** What a replay would send. Null when there is no such webhook. */
  count(webhookId: string, range: ReplayRange): Promise<ReplayCount | null>;
  /** Null when there is no such webhook. Throws `webhook-disabled`. */
  start(webhookId: string, range: ReplayRange, by: string): Promise<ReplayStart | null>;
  find(id: string): Promise<Replay | null>;
  /** Newest first. */
  list(
    webhookId: string,
    options: { readonly before: string | null; readonly limit: number },
  ): Promise<readonly Replay[]>;
  /** What is queued already is sent. Null when there is none; one that is over stays as it is. */
  cancel(id: string, by: string): Promise<Replay | null>;
}

export type ReplayStart =
  | { readonly kind: 'started'; readonly count: ReplayCount; readonly id: string }
  | { readonly kind: 'nothing-to-send'; readonly count: ReplayCount }
  /** The webhook has a running one: `id` is its. */
  | { readonly kind: 'already-running'; readonly id: string };

export function createReplays(parts: {
  readonly store: ReplayStore;
  readonly webhooks: WebhookStore;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}): Replays {
  const { store, webhooks, transactions, clock, logger } = parts;

  async function count(webhookId: string, range: ReplayRange): Promise<ReplayCount | null> {
    const webhook = await webhooks.find(webhookId);
    if (!webhook) return null;
    return store.count({ ...range, webhookId, stackKey: webhook.stackKey, filter: webhook.filter });
  }

  return {
    count,
    find: (id) => store.find(id),
    list: (webhookId, options) => store.listOfWebhook(webhookId, options),

    async start(webhookId, range, by) {
      const found = await count(webhookId, range);
      if (!found) return null;
      const id = parts.newId();
      const { position, last } = found;
      const total = totalOf(found);
      const result = await transactions.write(async (tx): Promise<ReplayStart | null> => {
        const webhook = await webhooks.find(webhookId, tx);
        if (!webhook) return null;
        if (!webhook.enabled) throw webhookDisabled();
        const [running] = (await store.running(tx)).filter((replay) => replay.webhookId === webhookId);
        if (running) return { kind: 'already-running', id: running.id };
        if (total === 0) return { kind: 'nothing-to-send', count: found };
        const made = { createdAtMs: clock.nowMs(), createdBy: by, position, last, total };
        await store.insert(tx, { id, webhookId, range, ...made });
        return { kind: 'started', count: found, id };
      });
      if (result?.kind === 'started') {
        logger.info({ replay: id, webhook: webhookId, by, total }, 'webhook replay started');
      }
      return result;
    },

    async cancel(id, by) {
      const ended = await transactions.write((tx) => store.end(tx, id, 'canceled', clock.nowMs()));
      if (ended) logger.info({ replay: id, by }, 'webhook replay canceled');
      return store.find(id);
    },
  };
}

export function totalOf({ states }: ReplayCount): number {
  return [...states.values()].reduce((total, count) => total + count, 0);
}
