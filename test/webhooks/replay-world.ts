import { createLogger } from '../../src/logger.ts';
import type { RunState } from '../../src/runs/run.ts';
import { createDeliveryStore } from '../../src/storage/delivery-store.ts';
import { createReplayStore } from '../../src/storage/replay-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createWebhookStore } from '../../src/storage/webhook-store.ts';
import type { Finished } from '../../src/webhooks/delivery-store.ts';
import { feedReplays, type ReplayLimits, replayLimits } from '../../src/webhooks/replay-loop.ts';
import type { ReplayRange } from '../../src/webhooks/replay-store.ts';
import { createReplays } from '../../src/webhooks/replays.ts';
import type { EventFilter } from '../../src/webhooks/webhook.ts';
import { aWebhook } from '../support/builders.ts';
import { mortal } from '../support/mortal-database.ts';
import { openStores } from './stores.ts';

export const t0 = 1_795_000_000_000;
export const always: ReplayRange = { sinceMs: 0, untilMs: t0 * 2, state: null, failedOnly: false };

type Result = 'delivered' | 'failed' | 'exhausted';

/** Runs with state changes, webhooks, and a receiver that takes what is due, one call at a time. */
export async function aReplayWorld(limits: Partial<ReplayLimits> = {}) {
  const stores = await openStores();
  const { database, clock, newId, webhooks, deliveries } = stores;
  const logger = createLogger('silent');
  const box = createSecretBox(Buffer.alloc(32, 7));
  const store = createReplayStore(database);
  const stackKey = await stores.addStack();
  const parts = { clock, newId, logger };

  /** A server on this database that dies after so many steps; null: it lives on. */
  function newLife(steps: number | null) {
    const life = mortal(database);
    life.endAfter(steps);
    const feedParts = {
      ...parts,
      store: createReplayStore(life.database),
      webhooks: createWebhookStore(life.database, box),
      deliveries: createDeliveryStore(life.database),
      transactions: life.database,
      pump: { wake: () => undefined },
      limits: { ...replayLimits, ...limits },
    };
    return { feed: () => feedReplays(feedParts) };
  }

  /** As the transition and the reactor would write it. */
  async function addChange(runId: string, stateVersion: number, state: RunState, atMs: number) {
    await database.write(async (tx) => {
      const event = {
        run_id: runId,
        state_version: stateVersion,
        state,
        timestamp_ms: atMs,
        actor: 'worker',
      };
      await database.inside(tx).insertInto('run_event').values(event).execute();
      await deliveries.insertPayload(tx, runId, stateVersion, Buffer.from('{}'));
    });
  }

  /** What is due now is sent, with that result. Resolves with what it was. */
  async function send(result: Result = 'delivered'): Promise<readonly string[]> {
    const nowMs = clock.nowMs();
    const webhookIds = (await deliveries.queues()).map((queue) => queue.webhookId);
    const wants = webhookIds.map((webhookId) => ({ webhookId, inFlightAtMost: 10_000 }));
    const isDelivered = result === 'delivered';
    return database.write(async (tx) => {
      const options = { nowMs, leaseUntilMs: nowMs + 45_000, wants, limit: 10_000 };
      const { claims } = await deliveries.claim(tx, options);
      const results = claims.map(
        ({ deliveryId, attempt }): Finished => ({
          deliveryId,
          attempt,
          startedAtMs: nowMs,
          outcome: isDelivered ? 'delivered' : 'failed',
          status: result,
          statusCode: isDelivered ? 204 : 500,
          error: isDelivered ? null : 'status',
          detail: null,
          durationMs: 1,
          exchange: null,
          nextAttemptAtMs: result === 'failed' ? nowMs + 5000 : null,
          rejections: 0,
        }),
      );
      await deliveries.finish(tx, results);
      return claims.map((claim) => `${claim.webhookId} ${claim.runId} ${claim.stateVersion}`);
    });
  }

  return {
    stores,
    stackKey,
    addChange,
    newLife,
    replays: createReplays({ ...parts, store, webhooks, transactions: database }),
    feed: newLife(null).feed,

    async addWebhook(change: { filter?: EventFilter; enabled?: boolean; stackKey?: string } = {}) {
      const id = newId();
      const url = `https://${id.toLowerCase()}.example/`;
      await database.write((tx) => webhooks.insert(tx, aWebhook({ id, stackKey, url, ...change })));
      return id;
    },

    /** Runs of ten state changes each, one after the other. */
    async addMany(count: number, ofStack = stackKey): Promise<void> {
      await database.write(async (tx) => {
        const raw = database.rawInside(tx);
        const run = raw.prepare(
          `insert into run (id, stack_key, type, state, state_version, branch, commit_hash, "commit",
            created_at_ms, triggered_by, started_by, dedupe_key)
          values (?, ?, 'TRACKED', 'FINISHED', 10, 'main', 'c0ffee', '{}', 0, 'ada', 'person:ada', ?)`,
        );
        const event = raw.prepare(
          `insert into run_event (run_id, state_version, state, timestamp_ms, actor)
          values (?, ?, 'PLANNING', ?, 'worker')`,
        );
        const payload = raw.prepare('insert into payload values (?, ?, ?)');
        for (let ordinal = 0, runId = ''; ordinal < count; ordinal += 1) {
          const version = (ordinal % 10) + 1;
          if (version === 1) {
            runId = newId();
            run.run(runId, ofStack, runId);
          }
          event.run(runId, version, t0 + ordinal);
          payload.run(runId, version, Buffer.from('{}'));
        }
      });
    },

    async queue(webhookId: string, runId: string, stateVersion: number): Promise<string> {
      const delivery = { id: newId(), webhookId, runId, stateVersion, createdAtMs: clock.nowMs() };
      await database.write((tx) => deliveries.insert(tx, delivery));
      return delivery.id;
    },

    send,

    /** Until nothing is due: states of one run go one after the other. */
    async sendAll(result: Result = 'delivered'): Promise<readonly string[]> {
      const all: string[] = [];
      for (let sent = await send(result); sent.length > 0; sent = await send(result)) all.push(...sent);
      return all;
    },

    async waiting(webhookId: string): Promise<number> {
      const { count } = await database.read
        .selectFrom('delivery')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('webhook_id', '=', webhookId)
        .where('next_at_ms', 'is not', null)
        .executeTakeFirstOrThrow();
      return count;
    },

    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}

export type ReplayWorld = Awaited<ReturnType<typeof aReplayWorld>>;

/** Begins one that has something to send. */
export async function started(world: ReplayWorld, webhookId: string, range = always): Promise<string> {
  const start = await world.replays.start(webhookId, range, 'ada');
  if (start?.kind !== 'started') throw new Error(`not started: ${start?.kind}`);
  return start.id;
}
