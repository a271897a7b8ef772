import { expect, test, vi } from 'vitest';
import { createSqliteEngine } from '../../src/engine/sqlite-engine.ts';
import { createIds } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import { createJudgeLoop, type JudgeHandlers, type Settle } from '../../src/policies/judge-loop.ts';
import { judgeJob, judgeQueue } from '../../src/runs/judge-jobs.ts';
import type { Transactions } from '../../src/tx.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

async function opened() {
  const temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const errors: string[] = [];
  const logger = createLogger('error', { write: (line) => void errors.push(line) });
  const queue = createSqliteEngine({ database, clock, newId: createIds(clock) });
  const disk = { isFull: false };
  const transactions: Transactions = {
    write: (work) => (disk.isFull ? Promise.reject(new Error('the disk is full')) : database.write(work)),
  };
  const parts = { queue, transactions, clock, logger, lookMs: 5 };
  const unasked = () => Promise.reject(new Error('not in this test'));
  const nobody = { approval: unasked, trigger: unasked, notification: unasked };
  const loop = (handlers: Partial<JudgeHandlers>) =>
    createJudgeLoop({ ...parts, handlers: { ...nobody, ...handlers } });
  const ask = (runId: string) =>
    database.write((tx) => queue.enqueue(tx, judgeJob({ kind: 'approval', runId })));
  const left = async () =>
    (await database.write((tx) => queue.unfinished(tx, judgeQueue))).map(({ key }) => key);
  return { temp, database, clock, queue, errors, disk, loop, ask, left };
}

const done: Settle = () => Promise.resolve('done');

test('each job goes to those who judge its kind, two at once', async () => {
  const world = await opened();
  await using _temp = world.temp;
  const judged: string[] = [];
  let [now, most] = [0, 0];
  const loop = world.loop({
    approval: async ({ runId }) => {
      now += 1;
      most = Math.max(most, now);
      await vi.waitFor(() => expect(now === 2 || judged.length > 0).toBe(true));
      judged.push(`approval ${runId}`);
      now -= 1;
      return done;
    },
    trigger: async ({ runId, stateVersion }) => {
      judged.push(`trigger ${runId} ${stateVersion}`);
      return done;
    },
  });
  for (const id of ['a', 'b', 'c']) await world.ask(id);
  await world.database.write((tx) =>
    world.queue.enqueue(tx, judgeJob({ kind: 'trigger', runId: 'a', stateVersion: 9 })),
  );

  await loop.start();
  await vi.waitFor(async () => expect(await world.left()).toEqual([]));
  await loop.stop();

  expect(judged.toSorted()).toEqual(['approval a', 'approval b', 'approval c', 'trigger a 9']);
  expect(most).toBe(2);
});

test('what is settled is settled with the end of the job, or not at all', async () => {
  const world = await opened();
  await using _temp = world.temp;
  const settled: string[] = [];
  const loop = world.loop({
    approval: async ({ runId }) => {
      // Somebody reviewed it while the policies were asked.
      if (settled.length === 0) {
        await world.database.write((tx) => world.queue.cancel(tx, judgeQueue, `approval:${runId}`));
      }
      settled.push('judged');
      return async () => {
        settled.push('settled');
        return 'done';
      };
    },
  });
  await world.ask('a');
  await loop.start();
  await vi.waitFor(async () => expect([settled, await world.left()]).toEqual([['judged'], []]));
  await world.ask('a');
  await vi.waitFor(async () => expect(await world.left()).toEqual([]));
  await loop.stop();

  expect(settled).toEqual(['judged', 'judged', 'settled']);
});

test('what fails is tried again, later each time; what asks for it, when it asks', async () => {
  const world = await opened();
  await using _temp = world.temp;
  let tries = 0;
  const loop = world.loop({
    approval: async () => {
      tries += 1;
      if (tries < 3) throw new Error('the disk is full');
      return async () => (tries === 3 ? { againAtMs: world.clock.nowMs() + 60_000 } : 'done');
    },
  });
  await world.ask('a');
  await loop.start();
  for (const [after, waitMs] of [
    [1, 1000],
    [2, 2000],
    [3, 60_000],
  ] as const) {
    await vi.waitFor(async () => {
      expect(tries).toBe(after);
      const [job] = await world.database.read.selectFrom('job').selectAll().execute();
      expect(job).toMatchObject({ lease_until_ms: null, run_at_ms: world.clock.nowMs() + waitMs });
    });
    world.clock.advance(waitMs);
  }
  await vi.waitFor(async () => expect(await world.left()).toEqual([]));
  await loop.stop();
  expect(tries).toBe(4);
  expect(world.errors).toHaveLength(2);
});

test('what cannot even be put back on a full disk is judged once there is room', async () => {
  const world = await opened();
  await using _temp = world.temp;
  const loop = world.loop({
    approval: async () => {
      world.disk.isFull = world.errors.length === 0;
      return done;
    },
  });
  await world.ask('a');
  await loop.start();
  await vi.waitFor(() => expect(world.errors.length).toBeGreaterThan(3));
  world.disk.isFull = false;
  await vi.waitFor(async () => {
    const [job] = await world.database.read.selectFrom('job').selectAll().execute();
    expect(job).toMatchObject({ lease_until_ms: null });
  });
  world.clock.advance(1000);
  await vi.waitFor(async () => expect(await world.left()).toEqual([]));
  await loop.stop();
});

test('a stop gives up what is under way; the next life begins it anew', async () => {
  const world = await opened();
  await using _temp = world.temp;
  let settled = 0;
  const settle: Settle = async () => {
    settled += 1;
    return 'done';
  };
  const begun = Promise.withResolvers<void>();
  const first = world.loop({
    approval: (_, signal) =>
      new Promise((resolve) => {
        // As the engine does: it answers, and says that it was stopped.
        signal.addEventListener('abort', () => resolve(settle));
        begun.resolve();
      }),
  });
  await world.ask('a');
  await first.start();
  await begun.promise;
  await first.stop();
  expect([settled, await world.left()]).toEqual([0, ['approval:a']]);

  await world.queue.expireAll();
  const second = world.loop({ approval: async () => settle });
  await second.start();
  await vi.waitFor(async () => expect(await world.left()).toEqual([]));
  await second.stop();
  expect(settled).toBe(1);
});
