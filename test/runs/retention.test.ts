import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createIds } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import { createRetention, type RetentionRules } from '../../src/runs/retention.ts';
import { createEventFeed } from '../../src/storage/event-feed.ts';
import { createFileLogStore } from '../../src/storage/file-log-store.ts';
import { createReplayStore } from '../../src/storage/replay-store.ts';
import { createRetentionStore } from '../../src/storage/retention-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import type { Transactions } from '../../src/tx.ts';
import { sweepAttempts, sweepReplays } from '../../src/webhooks/retention.ts';
import { retentionStoreContract } from '../contracts/retention-store.ts';
import { appendLog } from '../support/append-log.ts';
import { aWebhook } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { openStores } from '../webhooks/stores.ts';

const dayMs = 24 * 60 * 60 * 1000;
const never = new AbortController().signal;

async function opened() {
  const stores = await openStores();
  const directory = tempDirectory();
  const { database } = stores;
  const logs = createFileLogStore(directory.path);
  const runs = createRunStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const store = createRetentionStore(database);
  const clock = manualClock();
  const logger = createLogger('silent');

  /**
   * So many runs a stack, one each `everyMs` from `firstMs` on, by turns; FINISHED in four states, each told to the
   * webhook of the stack in one attempt.
   */
  async function addRuns(stackKeys: readonly string[], ofEach: number, firstMs: number, everyMs: number) {
    const webhooks = await Promise.all(
      stackKeys.map(async (stackKey) => {
        const id = stores.newId();
        await database.write((tx) => stores.webhooks.insert(tx, aWebhook({ id, stackKey })));
        return id;
      }),
    );
    const at = manualClock(firstMs);
    const newId = createIds(at);
    const ids: string[] = [];
    await database.write((tx) => {
      const raw = database.rawInside(tx);
      const run = raw.prepare(
        `insert into run (id, stack_key, type, state, state_version, branch, commit_hash, "commit", created_at_ms, triggered_by, started_by, had_worker, dedupe_key)
         values (?, ?, 'PROPOSED', 'FINISHED', 4, 'topic', 'c', '{}', ?, 'ada', 'person:ada', 1, ?)`,
      );
      const event = raw.prepare(
        `insert into run_event (run_id, state_version, state, timestamp_ms, actor) values (?, ?, ?, ?, 'ada')`,
      );
      const plan = raw.prepare('insert into run_plan (run_id, steps, has_changes) values (?, ?, 1)');
      const payload = raw.prepare('insert into payload (run_id, state_version, body) values (?, ?, ?)');
      const delivery = raw.prepare(
        `insert into delivery (id, webhook_id, run_id, state_version, status, attempts, created_at_ms)
         values (?, ?, ?, ?, 'delivered', 1, ?)`,
      );
      const attempt = raw.prepare(
        `insert into attempt (delivery_id, number, started_at_ms, outcome) values (?, 1, ?, 'delivered')`,
      );
      const body = Buffer.alloc(1500, ' ');
      body.set(Buffer.from('{}'));
      const steps = Buffer.alloc(8000);
      for (let n = 0; n < ofEach * stackKeys.length; n += 1) {
        const nowMs = at.nowMs();
        const [id, turn] = [newId(), n % stackKeys.length];
        run.run(id, stackKeys[turn], nowMs, id);
        plan.run(id, steps);
        for (const [index, state] of ['QUEUED', 'READY', 'PREPARING', 'FINISHED'].entries()) {
          event.run(id, index + 1, state, nowMs);
          payload.run(id, index + 1, body);
          const deliveryId = newId();
          delivery.run(deliveryId, webhooks[turn], id, index + 1, nowMs);
          attempt.run(deliveryId, nowMs);
        }
        ids.push(id);
        at.advance(everyMs);
      }
      return Promise.resolve();
    });
    return ids;
  }

  function retention(rules: RetentionRules, transactions: Transactions = database) {
    return createRetention({ store, logs, transactions, rules, clock, logger, pauseMs: 1 });
  }
  const count = async (
    table: 'run' | 'run_event' | 'payload' | 'delivery' | 'attempt' | 'run_plan' | 'replay',
  ) => {
    const query = database.read.selectFrom(table).select((row) => row.fn.countAll<number>().as('count'));
    return (await query.executeTakeFirstOrThrow()).count;
  };
  return {
    ...{ ...stores, store, logs, runs, clock, logger, addRuns, retention, count },
    logPath: (id: string) => join(directory.path, id),
    async [Symbol.asyncDispose]() {
      await logs[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
      await stores[Symbol.asyncDispose]();
    },
  };
}

retentionStoreContract('SQLite', async () => {
  const world = await opened();
  return {
    retention: world.store,
    runs: world.runs,
    deliveries: world.deliveries,
    transactions: world.database,
    addStack: () => world.addStack(),
    async addWebhook(stackKey) {
      const id = world.newId();
      await world.database.write((tx) => world.webhooks.insert(tx, aWebhook({ id, stackKey })));
      return id;
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
});

describe('retention', () => {
  it('removes logs first and runs later, and keeps the newest twenty of a stack', async () => {
    await using world = await opened();
    const stack = await world.addStack();
    const startMs = world.clock.nowMs();
    const ids = await world.addRuns([stack], 30, startMs, dayMs);
    for (const id of ids) await appendLog(world.logs, id, 'planning', 'output');
    const sweep = () => world.retention({ runsDays: 100, logsDays: 10 }).sweep(never);

    world.clock.advance(15.5 * dayMs);
    await sweep();
    expect(ids.map((id) => existsSync(world.logPath(id)))).toEqual(ids.map((_, n) => n >= 6));
    expect((await world.runs.find(ids[5] ?? ''))?.logRemoved).toBe(true);
    expect((await world.runs.find(ids[6] ?? ''))?.logRemoved).toBeUndefined();
    expect(await world.count('run')).toBe(30);

    world.clock.advance(500 * dayMs);
    await sweep();
    await sweep();
    const left = await runsOfStack(world.database, stack);
    expect(left.map(({ id }) => id)).toEqual(ids.slice(10).reverse());
    expect(left.every(({ logRemoved }) => logRemoved)).toBe(true);
  });

  it('removes nothing with 0 days, or for a clock that is behind', async () => {
    await using world = await opened();
    const ids = await world.addRuns([await world.addStack()], 30, world.clock.nowMs(), dayMs);
    await appendLog(world.logs, ids[0] ?? '', 'planning', 'output');
    await world.retention({ runsDays: 1, logsDays: 1 }).sweep(never);
    world.clock.advance(10_000 * dayMs);
    await world.retention({ runsDays: 0, logsDays: 0 }).sweep(never);

    expect(await world.count('run')).toBe(30);
    expect(existsSync(world.logPath(ids[0] ?? ''))).toBe(true);
  });

  it('goes through 5,200 runs without holding up those who write, and the feed goes on where it was', async () => {
    await using world = await opened();
    const { database } = world;
    const stacks = [];
    for (let n = 0; n < 10; n += 1) stacks.push(await world.addStack());
    await world.addRuns(stacks, 520, world.clock.nowMs() - 400 * dayMs, 60_000);
    const feed = createEventFeed(database);
    const before = await feed.read({ after: 0, account: null, limit: 10 });
    const cursor = before.at(-1)?.seq ?? 0;

    const durationsMs: number[] = [];
    const timed: Transactions = {
      write: (work) =>
        database.write(async (tx) => {
          const startMs = performance.now();
          const result = await work(tx);
          durationsMs.push(performance.now() - startMs);
          return result;
        }),
    };
    const waitsMs: number[] = [];
    let isDone = false;
    const others = (async () => {
      while (!isDone) {
        const startMs = performance.now();
        await database.write((tx) => database.inside(tx).updateTable('stack').set({ lock: null }).execute());
        waitsMs.push(performance.now() - startMs);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    await world.retention({ runsDays: 365, logsDays: 90 }, timed).sweep(never);
    isDone = true;
    await others;

    const runs = 10 * 20;
    expect(await world.count('run')).toBe(runs);
    for (const table of ['run_event', 'payload', 'delivery', 'attempt'] as const) {
      expect(await world.count(table), table).toBe(4 * runs);
    }
    expect(await world.count('run_plan')).toBe(runs);
    // Small transactions, and many others between them.
    expect(durationsMs.length).toBeGreaterThan(200);
    expect(waitsMs.length).toBeGreaterThan(200);
    expect(Math.max(...durationsMs)).toBeLessThan(1000);
    expect(Math.max(...waitsMs)).toBeLessThan(2000);
    const after = await feed.read({ after: cursor, account: null, limit: 10_000 });
    expect(after.length).toBe(4 * runs);
    expect(after.every(({ seq }) => seq > cursor)).toBe(true);
  }, 120_000);

  it('stops in the middle when it is told to', async () => {
    await using world = await opened();
    await world.addRuns([await world.addStack()], 300, world.clock.nowMs() - 400 * dayMs, 1000);
    const stop = new AbortController();
    const stopping: Transactions = {
      async write(work) {
        const result = await world.database.write(work);
        stop.abort();
        return result;
      },
    };
    await world.retention({ runsDays: 1, logsDays: 0 }, stopping).sweep(stop.signal);

    expect(await world.count('run')).toBe(280);
  });
});

describe('the attempts of old deliveries', () => {
  it('go, and the deliveries stay with what became of them', async () => {
    await using world = await opened();
    const { database, deliveries, clock, logger } = world;
    const stack = await world.addStack();
    await world.addRuns([stack], 100, clock.nowMs() - 100 * dayMs, dayMs);
    const pending = (await deliveries.listOfWebhook(await webhookOf(stack), { before: null, limit: 500 })).at(
      -1,
    );
    await database.write((tx) => deliveries.restart(tx, pending?.id ?? '', clock.nowMs()));

    const parts = { deliveries, transactions: database, clock, logger, pauseMs: 1 };
    await sweepAttempts({ ...parts, days: 0 }, never);
    expect(await world.count('attempt')).toBe(400);
    await sweepAttempts({ ...parts, days: 90 }, never);

    // Ten days of four each, less the one that is tried again.
    expect(await world.count('attempt')).toBe(361);
    expect(await world.count('delivery')).toBe(400);
    expect((await deliveries.find(pending?.id ?? ''))?.attempts).toHaveLength(1);

    async function webhookOf(stackKey: string): Promise<string> {
      const query = database.read.selectFrom('webhook').select('id').where('stack_key', '=', stackKey);
      return (await query.executeTakeFirstOrThrow()).id;
    }
  });
});

describe('replays', () => {
  it('go some time after their end, in small batches, and never before it', async () => {
    await using world = await opened();
    const { database, clock } = world;
    const stack = await world.addStack();
    await world.addRuns([stack], 1, clock.nowMs(), dayMs);
    const store = createReplayStore(database);
    const { id: webhookId } = await database.read
      .selectFrom('webhook')
      .select('id')
      .executeTakeFirstOrThrow();
    const endedAt = clock.nowMs() - 40 * dayMs;
    const range = { sinceMs: 0, untilMs: 1, state: null, failedOnly: false };
    const rest = { webhookId, range, total: 1, position: 0, last: 1, createdAtMs: endedAt, createdBy: 'ada' };
    for (let ordinal = 0; ordinal < 450; ordinal += 1) {
      await database.write(async (tx) => {
        const id = `01JREPLAY${String(ordinal).padStart(17, '0')}`;
        await store.insert(tx, { id, ...rest });
        await store.end(tx, id, 'done', ordinal < 410 ? endedAt : clock.nowMs());
      });
    }
    await database.write((tx) => store.insert(tx, { id: '01JRUNNING0000000000000000', ...rest }));

    let batches = 0;
    const transactions: Transactions = {
      write: (work) => {
        batches += 1;
        return database.write(work);
      },
    };
    const parts = { replays: store, transactions, clock, pauseMs: 1 };
    await sweepReplays({ ...parts, days: 0 }, never);
    expect(await world.count('replay')).toBe(451);
    await sweepReplays({ ...parts, days: 30 }, never);

    expect(await world.count('replay')).toBe(41);
    expect(batches).toBe(3);
  });
});
