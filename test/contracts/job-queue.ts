import { describe, expect, test } from 'vitest';
import type { Job, JobQueue, NewJob } from '../../src/runs/job-queue.ts';
import type { Transactions } from '../../src/tx.ts';
import type { ManualClock } from '../support/manual-clock.ts';

export interface OpenedQueue extends AsyncDisposable {
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: ManualClock;
  /** How long a holder may be silent. */
  readonly leaseMs: number;
}

/** What every job queue must do. */
export function jobQueueContract(name: string, open: () => OpenedQueue | Promise<OpenedQueue>): void {
  /** The queue with each call in a transaction of its own. */
  async function opened() {
    const world = await open();
    const { queue, transactions } = world;
    return {
      ...world,
      add: (job: Partial<NewJob> = {}) => transactions.write((tx) => queue.enqueue(tx, aJob(job))),
      claim: (from = 'work') => transactions.write((tx) => queue.claim(tx, from)),
      claimed: async (job: Partial<NewJob> = {}) => {
        await transactions.write((tx) => queue.enqueue(tx, aJob(job)));
        return present(await transactions.write((tx) => queue.claim(tx, 'work')));
      },
      holds: (job: Job) => transactions.write((tx) => queue.holds(tx, job)),
      finish: (job: Job) => transactions.write((tx) => queue.finish(tx, job)),
      retryLater: (job: Job, atMs: number) => transactions.write((tx) => queue.retryLater(tx, job, atMs)),
      cancel: (key: string) => transactions.write((tx) => queue.cancel(tx, 'work', key)),
      expired: () => transactions.write((tx) => queue.expired(tx, 'work')),
      release: (job: Job) => transactions.write((tx) => queue.release(tx, job)),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }
  type World = Awaited<ReturnType<typeof opened>>;

  /** Every call of a holder, each of which must be refused once the lease is lost. */
  const reports = async (world: World, job: Job) => [
    await world.queue.renew(job),
    await world.holds(job),
    await world.retryLater(job, 0),
    await world.finish(job),
  ];
  const refused = [false, false, false, false];

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

    leases(opened, reports);
    clocks(opened);
    wakeUps(opened);
  });

  function leases(open: typeof opened, allReports: typeof reports): void {
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
      expect(await allReports(world, job)).toEqual(refused);
      expect(await world.claim()).toMatchObject({ id: job.id, attempt: 2, data: { half: 'apply' } });
      expect(await allReports(world, job)).toEqual(refused);
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

  function clocks(open: typeof opened): void {
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

  function wakeUps(open: typeof opened): void {
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
}

function aJob(change: Partial<NewJob> = {}): NewJob {
  return { queue: 'work', key: 'run:1', priority: 0, runAtMs: 0, data: null, ...change };
}

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('expected a value');
  return value;
}
