import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import { createReplayStore } from '../../src/storage/replay-store.ts';
import { createReplayLoop, replayLimits } from '../../src/webhooks/replay-loop.ts';
import { createReplays } from '../../src/webhooks/replays.ts';
import { type Outgoing, startOutgoing } from './outgoing.ts';
import { eventually, startReceiver } from './receiver.ts';

function replaysOf(app: Outgoing) {
  const { clock, newId, webhooks, deliveries, database: transactions } = app.stores;
  const store = createReplayStore(transactions);
  const parts = { store, webhooks, deliveries, transactions, clock, newId, logger: createLogger('silent') };
  const limits = { ...replayLimits, waiting: 5, idleMs: 5, busyMs: 5 };
  return {
    replays: createReplays(parts),
    newLoop: () => createReplayLoop({ ...parts, pump: { wake: app.wake }, limits }),
  };
}

/** Runs of two states each, as the transition and the reactor write them. */
async function addRuns(app: Outgoing, count: number): Promise<void> {
  const { database, clock } = app.stores;
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const run = await app.startRun();
    for (const version of [1, 2]) {
      const event = {
        run_id: run.id,
        state_version: version,
        state: 'PLANNING',
        timestamp_ms: clock.nowMs(),
      };
      await database.write((tx) =>
        database
          .inside(tx)
          .insertInto('run_event')
          .values({ ...event, actor: 'worker' })
          .execute(),
      );
      await run.change(version);
    }
  }
}

describe('the loop that feeds replays', () => {
  it('sends what was missed while the webhook was disabled, through restarts of server and pump', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url, enabled: false });
    await addRuns(app, 20);
    await app.webhooks.update(id, { enabled: true });
    const { replays, newLoop } = replaysOf(app);
    const range = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, state: null, failedOnly: true };
    const start = await replays.start(id, range, 'ada');
    const replay = start?.kind === 'started' ? start.id : '';

    const first = newLoop();
    first.start();
    await eventually(
      () => receiver.received.length,
      (count) => count >= 5,
    );
    await first[Symbol.asyncDispose]();
    await app.restartPump();
    await using second = newLoop();
    second.start();
    const done = await eventually(
      () => replays.find(replay),
      (one) => one?.status === 'done',
    );
    await eventually(
      () => app.deliveriesOf(id),
      (list) => list.length === 40 && list.every(({ status }) => status === 'delivered'),
    );

    expect(done).toMatchObject({ total: 40, queued: 40 });
    expect(new Set(receiver.received.map(({ delivery }) => delivery)).size).toBe(40);
    expect(receiver.received).toHaveLength(40);
  });

  it('goes on after the database refused', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url, enabled: false });
    await addRuns(app, 2);
    await app.webhooks.update(id, { enabled: true });
    const { clock, newId, webhooks, deliveries, database } = app.stores;
    let refusals = 3;
    const parts = { store: createReplayStore(database), webhooks, deliveries, clock, newId };
    const logger = createLogger('silent');
    const replays = createReplays({ ...parts, transactions: database, logger });
    const range = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, state: null, failedOnly: false };
    await replays.start(id, range, 'ada');

    await using loop = createReplayLoop({
      ...parts,
      logger,
      transactions: {
        write: (work) =>
          refusals-- > 0 ? Promise.reject(new Error('the disk is full')) : database.write(work),
      },
      pump: { wake: app.wake },
      limits: { ...replayLimits, idleMs: 5, busyMs: 5 },
    });
    loop.start();

    await eventually(
      () => receiver.received.length,
      (count) => count === 4,
    );
    expect(refusals).toBeLessThan(0);
  });
});
