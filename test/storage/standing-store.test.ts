import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createStandingStore, standingQueries } from '../../src/storage/standing-store.ts';
import { driver, leaseMs } from '../contracts/delivery-store-driver.ts';
import { tempDatabase } from '../support/temp-database.ts';
import { openStores, type Stores } from '../webhooks/stores.ts';

async function openWorld() {
  const stores = await openStores();
  const { database, clock, newId } = stores;
  const stackKey = await stores.addStack();
  const nowMs = clock.nowMs();
  const world = {
    deliveries: stores.deliveries,
    transactions: database,
    newId,
    addRun: () => stores.addRun(stackKey),
    addWebhook: () => addWebhook(stores, stackKey),
    removeWebhook: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return {
    ...driver(world),
    ...{ stores, stackKey, nowMs, addRun: world.addRun, addWebhook: world.addWebhook },
    write: (statement: string) => database.write(async (tx) => void database.rawInside(tx).exec(statement)),
    standing: (atMs = nowMs) => createStandingStore(database).standing(atMs),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}

async function addWebhook(stores: Stores, stackKey: string): Promise<string> {
  const id = stores.newId();
  const endpoint = `https://${id}.example/`;
  await stores.database.write((tx) =>
    stores.webhooks.insert(tx, {
      ...{ id, stackKey, endpoint, url: endpoint, enabled: true, secret: null, headers: {}, createdAtMs: 0 },
      filter: { states: null, runTypes: null },
    }),
  );
  return id;
}

/** Partial indexes hold what is under way; `job` does too, and webhooks (and their health) are as many as somebody typed. */
const isShort =
  /^SCAN (CONSTANT ROW|job|webhook|webhook_health)$|USING (COVERING )?INDEX \w+_(due|due_of_webhook|leased|in_state|pending|failed)$/;

describe('the standing', () => {
  it('of nothing is nothing', async () => {
    await using file = tempDatabase();

    expect(await createStandingStore(file.database).standing(1000)).toEqual({
      deliveries: { pending: 0, due: 0, dueSinceMs: null, inFlight: 0 },
      webhooks: { enabled: 0, failing: 0, disabled: 0 },
      runs: {},
      jobs: { waiting: 0, running: 0, waitingSinceMs: null },
      inbox: { pending: 0, pendingSinceMs: null, failed: 0 },
      outboxWaiting: 0,
    });
  });

  it('tells deliveries apart: due, in flight, waiting for their next attempt, over', async () => {
    await using world = await openWorld();
    const { nowMs } = world;
    const webhookId = await world.addWebhook();
    const runId = await world.addRun();
    for (const stateVersion of [1, 2, 3, 4]) await world.add(webhookId, runId, stateVersion, nowMs - 7000);
    const [first] = await world.claim(nowMs);
    await world.finish(first);
    const [second] = await world.claim(nowMs);
    await world.finish(second, world.failed(nowMs + 5000));
    await world.claim(nowMs);

    expect((await world.standing()).deliveries).toEqual({
      pending: 3,
      due: 1,
      dueSinceMs: nowMs - 7000,
      inFlight: 1,
    });
    // What nobody finished is due again.
    expect((await world.standing(nowMs + leaseMs)).deliveries).toMatchObject({
      pending: 3,
      due: 3,
      inFlight: 0,
    });
  });

  it('does not count as due what a receiver asked to wait with', async () => {
    await using world = await openWorld();
    const { nowMs } = world;
    const [paused, other] = [await world.addWebhook(), await world.addWebhook()];
    const runId = await world.addRun();
    await world.add(paused, runId, 1, nowMs - 9000);
    await world.add(paused, runId, 2, nowMs - 8000);
    await world.add(other, runId, 1, nowMs - 1000);
    await world.write(
      `insert into webhook_health values ('${paused}', 1, 1, 1, 0, 0, ${nowMs + 1}, 'status')`,
    );

    expect((await world.standing()).deliveries).toMatchObject({
      pending: 3,
      due: 1,
      dueSinceMs: nowMs - 1000,
    });
    expect((await world.standing(nowMs + 1)).deliveries).toMatchObject({ due: 3, dueSinceMs: nowMs - 9000 });
  });

  it('tells webhooks apart: each in one state', async () => {
    await using world = await openWorld();
    const { nowMs, stores } = world;
    const [, retrying, failed, disabled] = [
      await world.addWebhook(),
      await world.addWebhook(),
      await world.addWebhook(),
      await world.addWebhook(),
    ];
    await world.add(retrying, await world.addRun(), 1, nowMs);
    await world.finish((await world.claim(nowMs))[0], world.failed(nowMs + 5000));
    await world.write(`insert into webhook_health values ('${failed}', 3, 1, 1, 1, 0, null, 'refused')`);
    await world.write(`insert into webhook_health values ('${disabled}', 3, 1, 1, 1, 0, null, 'refused')`);
    await stores.database.write((tx) =>
      stores.webhooks.update(tx, disabled, { disabled: { reason: null, atMs: nowMs } }),
    );

    expect((await world.standing()).webhooks).toEqual({ enabled: 1, failing: 2, disabled: 1 });
  });

  it('counts what is under way, and not what is over', async () => {
    await using world = await openWorld();
    for (const state of ['PLANNING', 'FINISHED', 'QUEUED', 'QUEUED']) {
      const id = await world.addRun();
      await world.write(`update run set state = '${state}', type = 'PROPOSED' where id = '${id}'`);
    }
    const job =
      'insert into job (id, queue, key, priority, run_at_ms, data, lease_until_ms, created_at_ms) values';
    await world.write(`${job} ('a', 'phase', 'a', 0, ${world.nowMs - 3000}, '{}', null, 0),
      ('b', 'phase', 'b', 0, 1, '{}', 5, 0), ('c', 'phase', 'c', 0, ${world.nowMs + 1}, '{}', null, 0),
      ('d', 'judge', 'd', 0, 0, '{}', null, 0), ('e', 'judge', 'e', 0, 0, '{}', 5, 0)`);
    const inbox =
      'insert into inbox (delivery_id, event, lane, received_at_ms, state, next_at_ms, body) values';
    await world.write(`${inbox} ('a', 'push', 'l', 20, 'pending', 0, x'00'), ('b', 'push', 'l', 10, 'pending', 0, x'00'),
      ('c', 'push', 'l', 1, 'failed', 0, x'00'), ('d', 'push', 'l', 1, 'failed', 0, null), ('e', 'push', 'l', 1, 'done', 0, x'00')`);
    const item =
      'insert into outbox_item (id, kind, lane, repository_id, desired, desired_version, settled_version, next_at_ms) values';
    await world.write(
      `${item} ('a', 'check_run', 'l', 21, '{}', 2, 1, 0), ('b', 'check_run', 'l', 22, '{}', 2, 2, 0)`,
    );

    expect(await world.standing()).toMatchObject({
      runs: { PLANNING: 1, QUEUED: 2 },
      jobs: { waiting: 1, running: 1, waitingSinceMs: world.nowMs - 3000 },
      inbox: { pending: 2, pendingSinceMs: 10, failed: 1 },
      outboxWaiting: 1,
    });
    // Nobody can send what belongs to a suspended installation.
    await world.write('update account set suspended = 1');
    expect((await world.standing()).outboxWaiting).toBe(0);
  });

  it.each(Object.entries(standingQueries))('of %s is found by indexes', async (_name, query) => {
    await using file = tempDatabase();
    const explained = sql<{ detail: string }>`explain query plan ${query(1)}`;
    const { rows } = await explained.execute(file.database.read);

    const scans = rows.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN '));
    expect(rows.length).toBeGreaterThan(0);
    expect(scans.filter((detail) => !isShort.test(detail))).toEqual([]);
  });
});
