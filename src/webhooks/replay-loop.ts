import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { ReplayItem, ReplayStore, RunningReplay } from './replay-store.ts';
import type { WebhookStore } from './webhook-store.ts';

/**
 * Queues what replays send, a little at a time: a state change that happens now waits for a few replayed ones,
 * never for all of them. How far a replay is moves in the transaction that queues, so that a crash neither
 * skips nor repeats anything.
 */
export interface ReplayLoop extends AsyncDisposable {
  start(): void;
}

export interface ReplayLimits {
  /** Of one replay at once: not tried yet. */
  readonly waiting: number;
  /** Tried in vain. A receiver that takes nothing is not given all of it. */
  readonly failing: number;
  /** Looked for new replays; commands of other processes ring no bell. */
  readonly idleMs: number;
  /** Looked whether running ones have room. */
  readonly busyMs: number;
}

export const replayLimits: ReplayLimits = { waiting: 50, failing: 500, idleMs: 1000, busyMs: 50 };

export interface ReplayLoopParts {
  readonly store: ReplayStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly pump: { wake(webhookId: string): void };
  readonly limits?: ReplayLimits;
}

export function createReplayLoop(parts: ReplayLoopParts): ReplayLoop {
  const { logger, limits = replayLimits } = parts;
  const ending = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      let running = 0;
      try {
        running = await feedReplays(parts);
      } catch (error) {
        logger.error({ err: error }, 'webhook replays could not go on, they try again');
      }
      const pauseMs = running === 0 ? limits.idleMs : limits.busyMs;
      await delay(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  return {
    start() {
      loop = run();
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await loop;
    },
  };
}

/** One look at all running replays, a transaction for each that has room. Resolves with how many they were. */
export async function feedReplays(parts: ReplayLoopParts): Promise<number> {
  const { store, transactions, limits = replayLimits } = parts;
  const running = await store.running();
  for (const { id } of running.filter((replay) => roomOf(replay, limits) > 0)) {
    await transactions.write(async (tx) => {
      // As it is now: it may have been canceled, or fed by another.
      const replay = (await store.running(tx)).find((one) => one.id === id);
      if (replay) await feed(parts, tx, replay, roomOf(replay, limits));
    });
  }
  return running.length;
}

function roomOf({ waiting, failing }: RunningReplay, limits: ReplayLimits): number {
  return failing >= limits.failing ? 0 : Math.max(0, limits.waiting - waiting);
}

async function feed(parts: ReplayLoopParts, tx: Tx, replay: RunningReplay, room: number): Promise<void> {
  const { store, webhooks, clock, logger } = parts;
  if (room === 0) return;
  const { id, webhookId, range, position: after, last } = replay;
  const webhook = await webhooks.find(webhookId, tx);
  if (!webhook?.enabled || replay.skipped > 0) {
    await store.end(tx, id, 'canceled', clock.nowMs());
    return;
  }
  const scope = { ...range, webhookId, stackKey: webhook.stackKey, filter: webhook.filter };
  const { items, position } = await store.next(tx, scope, { after, last, limit: room });
  const deliveryIds: string[] = [];
  for (const item of items) deliveryIds.push(await queue(parts, tx, webhookId, item));
  await store.advance(tx, id, { position, deliveryIds });
  if (position >= last) {
    await store.end(tx, id, 'done', clock.nowMs());
    logger.info({ replay: id, webhook: webhookId }, 'webhook replay is queued to its end');
  }
  if (items.length > 0) tx.afterCommit(() => parts.pump.wake(webhookId));
}

/** One that is in flight at this moment arrives anyway: it is left alone. */
async function queue(
  { deliveries, clock, newId }: ReplayLoopParts,
  tx: Tx,
  webhookId: string,
  { runId, stateVersion, deliveryId }: ReplayItem,
): Promise<string> {
  if (deliveryId !== null) {
    await deliveries.restart(tx, deliveryId, clock.nowMs());
    return deliveryId;
  }
  const delivery = { id: newId(), webhookId, runId, stateVersion, createdAtMs: clock.nowMs() };
  await deliveries.insert(tx, delivery);
  return delivery.id;
}
