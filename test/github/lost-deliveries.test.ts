import { describe, expect, test } from 'vitest';
import { createLostDeliveries, gapMs, pausesMs } from '../../src/github/reconcile/lost-deliveries.ts';
import { againMs, everyMs } from '../../src/github/reconcile/pace.ts';
import type { DeliveryFinding } from '../../src/github/reconcile/reconcile-observer.ts';
import { createLostDeliveryStore } from '../../src/storage/lost-delivery-store.ts';
import { startReceiving } from './receiving.ts';
import { aClock, eventually, silent } from './support.ts';

const attempts = /^\/app\/hook\/deliveries\/\d+\/attempts$/;
const list = /^\/app\/hook\/deliveries$/;
const hourMs = 60 * 60_000;

/** The whole way in, and the look-out for what did not come that way. Its clock begins with GitHub's. */
async function open() {
  const all = await startReceiving();
  const { github, database } = all;
  const clock = aClock(Date.now());
  const store = createLostDeliveryStore(database);
  const findings: DeliveryFinding[] = [];
  const start = () =>
    createLostDeliveries({
      app: all.app,
      store,
      transactions: database,
      isHandled: (event) => event !== 'check_suite',
      observer: { delivery: (outcome) => void findings.push(outcome), push: () => undefined },
      clock,
      random: () => 0.5,
      logger: silent,
    });
  let lost = start();
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '0' } });
  await eventually(async () => expect(await all.store.find(infra.id)).not.toBeNull());
  let count = 0;

  /** Until it has nothing to do before that long; the waits that it asked for meanwhile. */
  async function run(idleMs = gapMs): Promise<number[]> {
    const waits: number[] = [];
    for (;;) {
      const waitMs = await lost.step(new AbortController().signal);
      waits.push(waitMs);
      if (waitMs > idleMs) return waits;
      clock.ms += waitMs;
    }
  }

  return {
    ...all,
    ...{ clock, infra, findings, run },
    asked: () => github.requests.filter(({ path }) => attempts.test(path)).length,
    listed: () => github.requests.filter(({ path }) => list.test(path)).length,
    /** Pushes, and gives the id of the delivery that told it, or did not. */
    async push() {
      count += 1;
      const commit = { branch: 'main', message: `${count}`, files: { a: `${count}` } };
      return (await github.commitAndPush(infra, commit)).deliveryId;
    },
    goAway: () => github.setWebhook(null),
    comeBack: () => github.setWebhook(all.webhook),
    restart: () => {
      lost = start();
    },
    arrived: async (id: string) => {
      await github.settled();
      return (await all.inboxStore.find(id)) !== null;
    },
    loseFromInbox: (id: string) =>
      database.write((tx) => database.inside(tx).deleteFrom('inbox').where('delivery_id', '=', id).execute()),
  };
}

describe('what was delivered while nobody listened', () => {
  test('is asked for once and handled once, and nothing else is', async () => {
    await using all = await open();
    await all.push();
    all.goAway();
    const lost = [await all.push(), await all.push()];
    all.comeBack();
    await all.push();

    await all.run();

    await eventually(() =>
      expect(all.pushes.map(({ push }) => push.head.message).sort()).toEqual(['1', '2', '3', '4']),
    );
    expect(all.asked()).toBe(2);
    expect(await Promise.all(lost.map(all.arrived))).toEqual([true, true]);
    all.clock.ms += everyMs * 2;
    await all.run();
    expect(all.asked()).toBe(2);
    expect(all.findings.toSorted()).toEqual(['arrived', 'arrived', 'asked', 'asked', 'lost', 'lost']);
  });

  test('comes again although GitHub says that it was answered, when the database is from a backup', async () => {
    await using all = await open();
    const kept = await all.push();
    const gone = await all.push();
    await eventually(() => expect(all.pushes).toHaveLength(2));
    await all.loseFromInbox(gone);

    await all.run();

    await eventually(() =>
      expect(all.pushes.map(({ deliveryId }) => deliveryId)).toEqual([kept, gone, gone]),
    );
  });

  test('is asked for three times with growing pauses, and then no more, also after restarts', async () => {
    await using all = await open();
    all.goAway();
    await all.push();

    for (const [index, pauseMs] of pausesMs.entries()) {
      await all.run();
      await all.github.settled();
      expect(all.asked()).toBe(index + 1);
      all.restart();
      all.clock.ms += pauseMs - hourMs / 60;
      await all.run();
      expect(all.asked()).toBe(index + 1);
      all.clock.ms += hourMs / 60;
    }
    for (let hour = 0; hour < 5; hour += 1) {
      await all.run();
      all.restart();
      all.clock.ms += hourMs;
    }

    expect(all.asked()).toBe(3);
    expect(all.findings.filter((each) => each !== 'asked')).toEqual(['lost', 'given_up']);
  });

  test('is not asked for again when it arrived by another way', async () => {
    await using all = await open();
    all.goAway();
    const id = await all.push();
    await all.run();
    all.comeBack();
    await all.github.redeliver(id);

    all.clock.ms += hourMs;
    await all.run();

    expect(all.asked()).toBe(1);
    expect(all.findings.at(-1)).toBe('arrived');
  });

  test('is left alone when the inbox has it and could not handle it', async () => {
    await using all = await open();
    const id = await all.push();
    await eventually(() => expect(all.pushes).toHaveLength(1));
    await all.database.write((tx) => all.inboxStore.settle(tx, id, { state: 'failed', note: 'no' }));

    await all.run();

    expect(all.asked()).toBe(0);
  });

  test('is asked for at a pace of thirty a minute', async () => {
    await using all = await open();
    all.goAway();
    for (let index = 0; index < 4; index += 1) await all.push();

    const waits = await all.run();

    expect(waits.filter((ms) => ms === gapMs)).toHaveLength(4);
    expect(gapMs * 30).toBe(60_000);
  });
});

describe("GitHub's list", () => {
  test('is read to its end page by page, and after that only its new part', async () => {
    await using all = await open();
    all.goAway();
    const first = await all.push();
    for (let index = 0; index < 130; index += 1) await all.github.redeliver(first);
    await all.push();
    // As if it had gone on for hours.
    const answers = all.github.deliveries.flatMap((delivery) => delivery.answers);
    for (const answer of answers) answer.atMs -= 60_000 * answers.filter(({ id }) => id > answer.id).length;

    await all.run();
    expect(all.listed()).toBe(2);
    expect(all.asked()).toBe(2);
    await all.push();
    all.restart();
    await all.run();
    expect(all.listed()).toBe(3);
    expect(all.asked()).toBe(3);
  });

  test('is not read beyond three days', async () => {
    await using all = await open();
    all.goAway();
    await all.push();
    all.clock.ms += 73 * hourMs;

    await all.run();

    expect(all.findings).toEqual([]);
  });

  test('is tried again when GitHub fails, from where it was, and a limit is waited for', async () => {
    await using all = await open();
    all.goAway();
    await all.push();
    all.github.failNext({ pathPattern: list, status: 502 });
    all.github.failNext({ pathPattern: list, status: 403, headers: { 'retry-after': '600' } });

    expect(await all.run()).toEqual([againMs]);
    all.clock.ms += againMs;
    expect(await all.run()).toEqual([againMs]);
    all.clock.ms += 599_000;
    expect(await all.run()).toEqual([1000, expect.any(Number), expect.any(Number), expect.any(Number)]);
    expect(all.asked()).toBe(1);
  });

  test('holds ids that no number can, and one of them does not hide the others', async () => {
    await using all = await open();
    all.goAway();
    const [delivery] = [await all.push(), await all.push()];
    const answers = all.github.deliveries.find(({ guid }) => guid === delivery)?.answers;
    if (answers?.[0]) answers[0].id = Number.MAX_SAFE_INTEGER + 8;

    await all.run();

    expect(all.findings).toEqual(['lost', 'asked']);
  });
});

describe('asking for a delivery', () => {
  test('that GitHub fails to take does not count, one that it refuses is the last', async () => {
    await using all = await open();
    all.goAway();
    await all.push();
    all.github.failNext({ pathPattern: attempts, status: 503, times: 4 });
    for (let minute = 0; minute < 4; minute += 1) {
      expect((await all.run()).at(-1)).toBe(againMs);
      all.clock.ms += againMs;
    }
    all.github.failNext({ pathPattern: attempts, status: 422 });

    await all.run();
    all.clock.ms += hourMs;
    await all.run();

    expect(all.asked()).toBe(5);
    expect(all.findings).toEqual(['lost', 'given_up']);
  });

  test('is not done for events that nothing is done for', async () => {
    await using all = await open();
    all.goAway();
    await all.push();
    const [suite] = all.github.deliveries.slice(-1);
    if (suite) suite.event = 'check_suite';

    await all.run();

    expect(all.findings).toEqual([]);
  });
});
