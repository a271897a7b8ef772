import { describe, expect, it } from 'vitest';
import type { RunState } from '../../src/runs/run.ts';
import { fc } from '../support/fast-check.ts';
import { Death } from '../support/mortal-database.ts';
import { always, aReplayWorld, type ReplayWorld, started, t0 } from './replay-world.ts';

/** Feeds and sends until nothing runs, and gives back what was sent, in order. */
async function toTheEnd(world: ReplayWorld): Promise<string[]> {
  const sent: string[] = [];
  for (let turn = 0; turn < 2000; turn += 1) {
    const running = await world.feed();
    sent.push(...(await world.sendAll()));
    if (running === 0) return sent;
  }
  throw new Error('the replay does not end');
}

describe('a replay', () => {
  it('sends 25,000 state changes once each, and never has more than 50 of them wait', async () => {
    await using world = await aReplayWorld();
    const webhookId = await world.addWebhook();
    await world.addMany(25_000);
    const id = await started(world, webhookId);

    const sent: string[] = [];
    let most = 0;
    for (let turns = 0; (await world.feed()) > 0; turns += 1) {
      if (turns > 1000) throw new Error('the replay does not end');
      most = Math.max(most, await world.waiting(webhookId));
      sent.push(...(await world.sendAll()));
    }

    expect(sent).toHaveLength(25_000);
    expect(new Set(sent).size).toBe(25_000);
    expect(most).toBe(50);
    expect(await world.replays.find(id)).toMatchObject({ status: 'done', total: 25_000, queued: 25_000 });
  }, 60_000);

  it('lets what happens now go before most of it', async () => {
    await using world = await aReplayWorld();
    const webhookId = await world.addWebhook();
    await world.addMany(500);
    await started(world, webhookId);
    await world.feed();
    const runId = await world.stores.addRun(world.stackKey);
    await world.addChange(runId, 1, 'QUEUED', t0);
    await world.queue(webhookId, runId, 1);

    await world.feed();
    const sent = await world.sendAll();

    expect(sent).toContain(`${webhookId} ${runId} 1`);
    expect(sent).toHaveLength(51);
  });

  it('does not push everything at a receiver that takes nothing', async () => {
    await using world = await aReplayWorld({ waiting: 5, failing: 20 });
    const webhookId = await world.addWebhook();
    for (let run = 0; run < 60; run += 1) {
      await world.addChange(await world.stores.addRun(world.stackKey), 1, 'QUEUED', t0);
    }
    const id = await started(world, webhookId);

    for (let turn = 0; turn < 20; turn += 1) {
      await world.feed();
      await world.send('failed');
    }
    const held = await world.replays.find(id);
    world.stores.clock.advance(5000);
    await world.send();
    await toTheEnd(world);

    expect(held).toMatchObject({ status: 'running', queued: 20 });
    expect(await world.replays.find(id)).toMatchObject({ status: 'done', queued: 60 });
  });

  it('ends when the webhook is disabled, if only for a moment, and does not begin while it is', async () => {
    await using world = await aReplayWorld({ waiting: 5 });
    const { database, webhooks, deliveries } = world.stores;
    const webhookId = await world.addWebhook();
    await world.addMany(20);
    const id = await started(world, webhookId);
    await world.feed();
    const set = (disabled: { reason: null; atMs: number } | null) =>
      database.write(async (tx) => {
        await webhooks.update(tx, webhookId, { disabled });
        if (disabled) await deliveries.stopPending(tx, webhookId);
      });

    await set({ reason: null, atMs: t0 });
    const refused = world.replays.start(webhookId, always, 'ada');
    await expect(refused).rejects.toMatchObject({ code: 'webhook-disabled' });
    const counted = await world.replays.count(webhookId, always);
    await set(null);
    await world.feed();

    expect(counted?.states.get('PLANNING')).toBe(20);
    expect(await world.replays.find(id)).toMatchObject({ status: 'canceled', queued: 5 });
    expect(await world.send()).toEqual([]);
  });

  it('goes with its webhook', async () => {
    await using world = await aReplayWorld({ waiting: 5 });
    const webhookId = await world.addWebhook();
    await world.addMany(20);
    const id = await started(world, webhookId);
    await world.feed();

    await world.stores.database.write((tx) => world.stores.webhooks.remove(tx, webhookId));

    expect(await world.feed()).toBe(0);
    expect(await world.replays.find(id)).toBeNull();
    expect(await world.replays.start(webhookId, always, 'ada')).toBeNull();
  });

  it('runs once at a time for a webhook', async () => {
    await using world = await aReplayWorld();
    const [webhookId, other] = [await world.addWebhook(), await world.addWebhook()];
    await world.addMany(100);

    const starts = await Promise.all([1, 2, 3].map(() => world.replays.start(webhookId, always, 'ada')));
    const beside = await world.replays.start(other, always, 'ada');

    expect(starts.map((start) => start?.kind).sort()).toEqual([
      'already-running',
      'already-running',
      'started',
    ]);
    expect(new Set(starts.map((start) => start && 'id' in start && start.id)).size).toBe(1);
    expect(beside?.kind).toBe('started');
  });

  it('stops where it is when it is canceled', async () => {
    await using world = await aReplayWorld({ waiting: 5 });
    const webhookId = await world.addWebhook();
    await world.addMany(20);
    const id = await started(world, webhookId);
    await world.feed();

    const canceled = await world.replays.cancel(id, 'ada');

    expect(canceled).toMatchObject({ status: 'canceled', queued: 5, total: 20 });
    expect(await toTheEnd(world)).toHaveLength(5);
    expect(await world.replays.cancel(id, 'ada')).toMatchObject({ status: 'canceled' });
    expect(await world.replays.cancel('nobody', 'ada')).toBeNull();
  });

  it('counts by state, and says from when on there is anything', async () => {
    await using world = await aReplayWorld();
    const webhookId = await world.addWebhook({ filter: { states: ['FINISHED', 'FAILED'], runTypes: null } });
    const runId = await world.stores.addRun(world.stackKey);
    const elsewhere = await world.stores.addRun(await world.stores.addStack());
    await world.addChange(runId, 1, 'QUEUED', t0);
    await world.addChange(elsewhere, 1, 'FINISHED', t0);
    await world.addChange(runId, 2, 'FINISHED', t0 + 1000);

    const all = await world.replays.count(webhookId, always);
    const late = await world.replays.count(webhookId, { ...always, sinceMs: t0 + 1001 });
    const nothing = await world.replays.start(webhookId, { ...always, state: 'QUEUED' }, 'ada');

    expect(all).toMatchObject({ states: new Map([['FINISHED', 1]]), oldestMs: t0 });
    expect(late?.states.size).toBe(0);
    expect(nothing?.kind).toBe('nothing-to-send');
  });

  it('finds its way past thousands of state changes of other stacks', async () => {
    await using world = await aReplayWorld();
    const webhookId = await world.addWebhook();
    const other = await world.stores.addStack();
    for (let part = 0; part < 3; part += 1) {
      await world.addMany(10);
      await world.addMany(4500, other);
    }
    await world.addMany(10);
    const id = await started(world, webhookId);

    const sent = await toTheEnd(world);

    expect(new Set(sent).size).toBe(40);
    expect(sent).toHaveLength(40);
    expect(await world.replays.find(id)).toMatchObject({ status: 'done', total: 40, queued: 40 });
  });

  it('keeps the id of what was sent before, and gives one to what was not', async () => {
    await using world = await aReplayWorld();
    const webhookId = await world.addWebhook();
    const runId = await world.stores.addRun(world.stackKey);
    for (const version of [1, 2]) await world.addChange(runId, version, 'PLANNING', t0);
    const id = await world.queue(webhookId, runId, 1);
    await world.send();
    await started(world, webhookId);
    await toTheEnd(world);

    const list = await world.stores.deliveries.listOfWebhook(webhookId, { before: null, limit: 10 });
    expect(list.map(({ stateVersion, attempts }) => [stateVersion, attempts.length])).toEqual([
      [2, 1],
      [1, 2],
    ]);
    expect(list[1]?.id).toBe(id);
  });
});

const states = ['QUEUED', 'PLANNING', 'FINISHED'] as const satisfies readonly RunState[];
/** What became of a state change before the replay; `never`: it was not queued. */
const fates = ['delivered', 'exhausted', 'failed', 'skipped', 'pending', 'never'] as const;

const change = fc.record({
  run: fc.nat(2),
  state: fc.constantFrom(...states),
  atS: fc.nat(5),
  fate: fc.constantFrom(...fates),
});
const request = fc.record({
  sinceS: fc.nat(3),
  untilS: fc.integer({ min: 3, max: 7 }),
  state: fc.option(fc.constantFrom(...states)),
  failedOnly: fc.boolean(),
  wanted: fc.option(fc.subarray([...states])),
});

it('sends every candidate exactly once, wherever the server dies', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 25 }),
      request,
      fc.array(fc.nat(30), { maxLength: 6 }),
      async (changes, { sinceS, untilS, wanted, ...rest }, deaths) => {
        await using world = await aReplayWorld({ waiting: 3 });
        const { database, deliveries } = world.stores;
        const filter = { states: wanted, runTypes: null };
        const webhookId = await world.addWebhook({ filter });
        const runs = await Promise.all([0, 1].map(() => world.stores.addRun(world.stackKey)));
        runs.push(await world.stores.addRun(await world.stores.addStack()));
        const candidates: string[] = [];
        for (const fate of fates) {
          for (const [index, one] of changes.entries()) {
            if (one.fate !== fate) continue;
            const runId = runs[one.run] ?? '';
            const version = index + 1;
            await world.addChange(runId, version, one.state, t0 + one.atS * 1000);
            const isOwn = one.run < 2;
            const isIn =
              one.atS >= sinceS &&
              one.atS < untilS &&
              (rest.state === null || rest.state === one.state) &&
              (wanted === null || wanted.includes(one.state)) &&
              (!rest.failedOnly || (fate !== 'delivered' && fate !== 'pending'));
            if (isOwn && isIn) candidates.push(`${webhookId} ${runId} ${version}`);
            if (isOwn && fate !== 'never') await world.queue(webhookId, runId, version);
          }
          if (fate === 'delivered' || fate === 'exhausted' || fate === 'failed') await world.sendAll(fate);
          if (fate === 'skipped') await database.write((tx) => deliveries.stopPending(tx, webhookId));
        }
        const range = { ...rest, sinceMs: t0 + sinceS * 1000, untilMs: t0 + untilS * 1000 };
        const start = await world.replays.start(webhookId, range, 'ada');
        expect(start?.kind).toBe(candidates.length > 0 ? 'started' : 'nothing-to-send');
        // What was pending before is sent with the rest; it is no business of the replay when it is no candidate.
        const own = new Set(candidates);

        const sent: string[] = [];
        const lives = [...deaths, null];
        for (let turn = 0; ; turn += 1) {
          expect(turn).toBeLessThan(200);
          const life = world.newLife(lives.length > 1 ? (lives.shift() ?? null) : null);
          const running = await life.feed().catch((error: unknown) => {
            if (error instanceof Death) return 1;
            throw error;
          });
          sent.push(...(await world.sendAll()));
          if (running === 0) break;
        }

        expect(sent.filter((one) => own.has(one)).sort()).toEqual(candidates.sort());
        if (start?.kind === 'started') {
          expect(await world.replays.find(start.id)).toMatchObject({
            status: 'done',
            total: candidates.length,
            queued: candidates.length,
          });
        }
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
