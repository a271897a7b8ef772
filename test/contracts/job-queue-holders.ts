import { expect, test } from 'vitest';
import type { Tx } from '../../src/tx.ts';
import { aJob, present, type QueueWorld, refused, reports } from './job-queue-world.ts';

/** What the contract of the job queue says of holders: their leases, other processes, clocks and wake-ups. */
type Open = () => Promise<QueueWorld>;

export function leases(open: Open): void {
  test('lets a holder go on as long as it renews', async () => {
    await using world = await open();
    const job = await world.claimed();

    for (let n = 0; n < 5; n += 1) {
      world.clock.advance(world.leaseMs - 1);
      expect(await world.expired()).toEqual([]);
      expect(await world.queue.renew(job)).toBe(true);
    }

    expect(await world.finish(job)).toBe(true);
  });

  test('tells of a silent holder, and offers its job to nobody before it was released', async () => {
    await using world = await open();
    const job = await world.claimed({ data: { half: 'apply' } });
    world.clock.advance(world.leaseMs);

    expect(await world.expired()).toEqual([job]);
    expect(await world.claim()).toBeNull();
    expect(await world.add()).toBe('duplicate');

    await world.release(job);
    expect(await world.expired()).toEqual([]);
    expect(await reports(world, job)).toEqual(refused);
    expect(await world.claim()).toMatchObject({ id: job.id, attempt: 2, data: { half: 'apply' } });
    expect(await reports(world, job)).toEqual(refused);
  });

  test('takes a holder back who speaks up before the job was released', async () => {
    await using world = await open();
    const job = await world.claimed();
    world.clock.advance(world.leaseMs * 2);
    const [late] = await world.expired();

    expect(await world.queue.renew(job)).toBe(true);

    expect(await world.expired()).toEqual([]);
    await world.release(present(late));
    expect(await world.holds(job)).toBe(true);
    expect(await world.claim()).toBeNull();
  });

  test('releases nothing on behalf of an earlier holder', async () => {
    await using world = await open();
    const first = await world.claimed();
    world.clock.advance(world.leaseMs);
    await world.release(first);
    const second = present(await world.claim());
    world.clock.advance(world.leaseMs);

    await world.release(first);

    expect(await world.expired()).toEqual([second]);
  });

  test('ends every lease when the only server starts, and touches what nobody had', async () => {
    await using world = await open();
    await world.claimed({ key: 'run:1' });
    await world.claimed({ key: 'run:2' });
    await world.add({ key: 'run:3' });

    await world.queue.expireAll();

    expect((await world.expired()).map(({ key }) => key)).toEqual(['run:1', 'run:2']);
    expect(await world.claim()).toMatchObject({ key: 'run:3', attempt: 1 });
  });
}

export function clocks(open: Open): void {
  test('survives a clock that is set back', async () => {
    await using world = await open();
    const job = await world.claimed({ key: 'run:1' });
    await world.add({ key: 'run:2', runAtMs: 0 });
    world.clock.advance(-3_600_000);

    expect(await world.expired()).toEqual([]);
    expect(await world.queue.renew(job)).toBe(true);
    expect(await world.claim()).toMatchObject({ key: 'run:2' });
    // A lease counts from the last renewal, on the clock as it is then.
    world.clock.advance(world.leaseMs);
    expect((await world.expired()).map(({ key }) => key)).toEqual(['run:1', 'run:2']);
  });

  test('offers a released job at once, though the clock was set back meanwhile', async () => {
    await using world = await open();
    const job = await world.claimed({ runAtMs: world.clock.nowMs() });
    world.clock.advance(-3_600_000);
    await world.queue.expireAll();

    await world.release(job);

    expect(await world.claim()).toMatchObject({ id: job.id, attempt: 2 });
  });

  test('survives a clock that is set forward', async () => {
    await using world = await open();
    const job = await world.claimed();
    world.clock.advance(3_600_000);

    expect(await world.queue.renew(job)).toBe(true);

    expect(await world.expired()).toEqual([]);
    expect(await world.finish(job)).toBe(true);
  });
}

export function wakeUps(open: Open): void {
  /** Long enough that a test which needs it fails by its own time limit. */
  const longMs = 3_600_000;
  const never = new AbortController().signal;

  test('remembers a job that came before anybody waited for it', async () => {
    await using world = await open();
    await world.add();

    await world.queue.waitForWork('work', longMs, never);
  });

  test('wakes whoever waits when a job comes, and when one is released', async () => {
    await using world = await open();
    const waiting = [1, 2].map(() => world.queue.waitForWork('work', longMs, never));
    const job = await world.claimed();
    await Promise.all(waiting);
    world.clock.advance(world.leaseMs);

    const again = world.queue.waitForWork('work', longMs, never);
    await world.release(job);
    await again;
  });

  test('wakes nobody for another queue, or for a job that was rolled back', async () => {
    await using world = await open();
    const stop = new AbortController();
    let isAwake = false;
    const waiting = world.queue.waitForWork('work', longMs, stop.signal).then(() => {
      isAwake = true;
    });

    await world.add({ queue: 'other' });
    const failing = world.transactions.write(async (tx) => {
      await world.queue.enqueue(tx, aJob());
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAwake).toBe(false);

    stop.abort();
    await waiting;
  });

  test('waits no longer than it was told, and not at all when told to stop', async () => {
    await using world = await open();

    await world.queue.waitForWork('work', 1, never);
    await world.queue.waitForWork('work', longMs, AbortSignal.abort());
  });
}

export function processes(open: Open): void {
  test('never gives a job to two processes', async () => {
    await using world = await open();
    const other = world.another();
    for (let n = 0; n < 12; n += 1) await world.add({ key: `run:${n}` });

    const claims = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        world.transactions.write((tx) => (n % 2 === 0 ? world.queue : other).claim(tx, 'work')),
      ),
    );

    const keys = claims.flatMap((job) => (job ? [job.key] : []));
    expect([keys.length, new Set(keys).size]).toEqual([12, 12]);
  });

  test('keeps the jobs of a process that died for the next, which fences it', async () => {
    await using world = await open();
    const job = await world.claimed({ data: { half: 'plan' } });
    await world.add({ key: 'run:2' });
    const next = world.another();

    await next.expireAll();
    const write = world.transactions.write.bind(world.transactions);
    expect(await write((tx) => next.expired(tx, 'work'))).toEqual([job]);
    await write((tx) => next.release(tx, job));

    expect(await reports(world, job)).toEqual(refused);
    const again = present(await write((tx) => next.claim(tx, 'work')));
    expect(again).toMatchObject({ id: job.id, attempt: 2, data: { half: 'plan' } });
    expect(await reports(world, job)).toEqual(refused);
    expect(await write((tx) => next.holds(tx, again))).toBe(true);
    expect(await write((tx) => next.claim(tx, 'work'))).toMatchObject({ key: 'run:2', attempt: 1 });
  });

  test('leaves a job with its holder when the transaction of its report failed', async () => {
    await using world = await open();
    const { queue, transactions } = world;
    const job = await world.claimed();
    const ways = [
      (tx: Tx) => queue.finish(tx, job),
      (tx: Tx) => queue.retryLater(tx, job, 0),
      (tx: Tx) => queue.cancel(tx, 'work', job.key),
    ];

    for (const way of ways) {
      const failing = transactions.write(async (tx) => {
        await way(tx);
        throw new Error('the state changed meanwhile');
      });
      await expect(failing).rejects.toThrow('meanwhile');
      expect(await world.holds(job)).toBe(true);
      expect(await world.claim()).toBeNull();
    }

    world.clock.advance(world.leaseMs);
    const failing = transactions.write(async (tx) => {
      await queue.release(tx, job);
      throw new Error('the state changed meanwhile');
    });
    await expect(failing).rejects.toThrow('meanwhile');
    expect(await world.expired()).toEqual([job]);
    expect(await world.claim()).toBeNull();
  });

  test('takes a key again in the very transaction in which its job was done', async () => {
    await using world = await open();
    const { queue, transactions } = world;
    const job = await world.claimed();

    await transactions.write(async (tx) => {
      expect(await queue.finish(tx, job)).toBe(true);
      expect(await queue.enqueue(tx, aJob({ data: 'next' }))).toBe('enqueued');
    });

    expect(await world.holds(job)).toBe(false);
    expect(await world.claim()).toMatchObject({ key: job.key, data: 'next', attempt: 1 });
  });
}
