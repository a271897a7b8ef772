import { describe, expect, test } from 'vitest';
import { clocks, leases, processes, wakeUps } from './job-queue-holders.ts';
import { aJob, type OpenedQueue, openQueue, present, refused, reports } from './job-queue-world.ts';

/** What every job queue must do. */
export function jobQueueContract(name: string, open: () => OpenedQueue | Promise<OpenedQueue>): void {
  const opened = () => openQueue(open);

  describe(`the job queue on ${name}`, () => {
    test('gives what was put in, and counts the claim', async () => {
      await using world = await opened();
      await world.add({ key: 'run:1', data: { half: 'plan', n: [1, null, 'é'] } });

      const job = await world.claim();

      expect(job).toMatchObject({ key: 'run:1', queue: 'work', attempt: 1 });
      expect(job?.data).toEqual({ half: 'plan', n: [1, null, 'é'] });
    });

    test('never gives a job to two holders, however many ask at once', async () => {
      await using world = await opened();
      await Promise.all(Array.from({ length: 20 }, (_, n) => world.add({ key: `run:${n}` })));

      const claims = await Promise.all(Array.from({ length: 30 }, () => world.claim()));

      const keys = claims.flatMap((job) => (job ? [job.key] : []));
      expect(new Set(keys).size).toBe(20);
      expect(keys).toHaveLength(20);
    });

    test('gives the highest priority first, and the oldest of those', async () => {
      await using world = await opened();
      await world.add({ key: 'low', priority: 1 });
      await world.add({ key: 'high, older', priority: 5 });
      await world.add({ key: 'high, younger', priority: 5 });
      await world.add({ key: 'highest', priority: 2_000_001 });

      const keys = [];
      for (let n = 0; n < 4; n += 1) keys.push((await world.claim())?.key);

      expect(keys).toEqual(['highest', 'high, older', 'high, younger', 'low']);
    });

    test('keeps queues apart', async () => {
      await using world = await opened();
      await world.add({ queue: 'other' });

      expect(await world.claim('work')).toBeNull();
      expect(await world.claim('other')).not.toBeNull();
    });

    test('takes a key once, until the job with it is done', async () => {
      await using world = await opened();

      expect(await world.add()).toBe('enqueued');
      expect(await world.add({ priority: 9 })).toBe('duplicate');
      expect(await world.add({ queue: 'other' })).toBe('enqueued');
      const job = present(await world.claim());
      expect(await world.add()).toBe('duplicate');
      expect(await world.finish(job)).toBe(true);
      expect(await world.add()).toBe('enqueued');
    });

    test('takes a key once, though many bring it at once', async () => {
      await using world = await opened();

      const answers = await Promise.all(Array.from({ length: 10 }, () => world.add()));

      expect(answers.filter((answer) => answer === 'enqueued')).toHaveLength(1);
    });

    test('tells of every job that is not done, oldest first', async () => {
      await using world = await opened();
      const { queue, transactions } = world;
      const keys = async () =>
        (await transactions.write((tx) => queue.unfinished(tx, 'work'))).map(({ key }) => key);
      const done = await world.claimed({ key: 'done' });
      const held = await world.claimed({ key: 'held' });
      await world.add({ key: 'waiting', runAtMs: world.clock.nowMs() + 5000, priority: 9 });
      await world.add({ key: 'elsewhere', queue: 'other' });
      await world.finish(done);

      expect(await keys()).toEqual(['held', 'waiting']);
      world.clock.advance(world.leaseMs);
      expect(await keys()).toEqual(['held', 'waiting']);
      expect(await transactions.write((tx) => queue.unfinished(tx, 'work'))).toContainEqual(held);
      await world.cancel('held');
      expect(await keys()).toEqual(['waiting']);
    });

    test('holds a job back until it is due', async () => {
      await using world = await opened();
      await world.add({ runAtMs: world.clock.nowMs() + 5000 });

      expect(await world.claim()).toBeNull();
      world.clock.advance(4999);
      expect(await world.claim()).toBeNull();
      world.clock.advance(1);
      expect(await world.claim()).not.toBeNull();
    });

    test('keeps nothing of a transaction that failed', async () => {
      await using world = await opened();
      const { queue, transactions } = world;
      const failing = transactions.write(async (tx) => {
        await queue.enqueue(tx, aJob());
        throw new Error('the state changed meanwhile');
      });
      await expect(failing).rejects.toThrow('meanwhile');

      expect(await world.claim()).toBeNull();
      expect(await world.add()).toBe('enqueued');
    });

    test('offers nothing below the priority that is asked for', async () => {
      await using world = await opened();
      const { queue, transactions } = world;
      await world.add({ key: 'low', priority: 1 });
      await world.add({ key: 'high', priority: 5 });
      const claim = () => transactions.write((tx) => queue.claim(tx, 'work', 5));

      expect((await claim())?.key).toBe('high');
      expect(await claim()).toBeNull();
      expect((await world.claim())?.key).toBe('low');
    });

    test('offers a job again when the transaction that claimed it failed', async () => {
      await using world = await opened();
      const { queue, transactions } = world;
      await world.add();
      const failing = transactions.write(async (tx) => {
        expect(await queue.claim(tx, 'work')).not.toBeNull();
        throw new Error('the run could not be claimed');
      });
      await expect(failing).rejects.toThrow('claimed');

      expect(await world.claim()).toMatchObject({ key: 'run:1' });
    });

    test('gives a finished job to nobody, and lets nobody finish it twice', async () => {
      await using world = await opened();
      const job = await world.claimed();

      expect(await world.finish(job)).toBe(true);

      expect(await world.claim()).toBeNull();
      expect(await reports(world, job)).toEqual(refused);
    });

    test('puts a job back for later, and refuses the holder from then on', async () => {
      await using world = await opened();
      const first = await world.claimed();

      expect(await world.retryLater(first, world.clock.nowMs() + 1000)).toBe(true);

      expect(await reports(world, first)).toEqual(refused);
      expect(await world.claim()).toBeNull();
      world.clock.advance(1000);
      expect(await world.claim()).toMatchObject({ id: first.id, attempt: 2 });
      expect(await reports(world, first)).toEqual(refused);
    });

    test('removes a job by its key before anybody has it', async () => {
      await using world = await opened();
      await world.add();
      await world.add({ key: 'run:2' });

      await world.cancel('run:1');
      await world.cancel('never there');

      expect(await world.claim()).toMatchObject({ key: 'run:2' });
      expect(await world.claim()).toBeNull();
      expect(await world.add()).toBe('enqueued');
    });

    test('removes a job under its holder, who is then refused', async () => {
      await using world = await opened();
      const job = await world.claimed();

      await world.cancel('run:1');
      await world.add();
      const next = present(await world.claim());

      expect(await reports(world, job)).toEqual(refused);
      expect(await world.holds(next)).toBe(true);
    });

    leases(opened);
    processes(opened);
    clocks(opened);
    wakeUps(opened);
  });
}
