import { describe, expect, test, vi } from 'vitest';
import { backoffMs, maxAttempts } from '../../src/github/backoff.ts';
import type { Delivery, DeliveryOutcome } from '../../src/github/inbox-store.ts';
import { createInboxWorker, maxInHand } from '../../src/github/inbox-worker.ts';
import { createLogger } from '../../src/logger.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { UserError } from '../../src/user-error.ts';
import { aClock, eventually, tempDatabase } from './support.ts';

type Handle = (delivery: Delivery) => Promise<DeliveryOutcome>;

async function openWorker(handle: Handle) {
  const temp = await tempDatabase();
  const { database } = temp;
  const store = createInboxStore(database);
  const clock = aClock();
  let isAbandoned = false;
  const errors: string[] = [];
  const write = (line: string) => void errors.push(line);
  const logger = createLogger('error', { write });
  const start = () => createInboxWorker({ store, transactions: database, handle, clock, logger });
  const worker = start();
  const put = (id: string, receivedAtMs = clock.ms, lane = 'repository 5') => {
    const delivery = { id, event: 'push', lane, body: Buffer.from('{}'), receivedAtMs };
    return database.write((tx) => store.insert(tx, delivery));
  };
  return {
    store,
    clock,
    worker,
    put,
    database,
    errors,
    /** Another worker on the same rows, as after a restart. */
    restarted: start,
    /** The worker is not waited for any more: it has something in hand that never ends. */
    abandon: () => {
      isAbandoned = true;
    },
    async [Symbol.asyncDispose]() {
      if (!isAbandoned) await worker[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

const done: DeliveryOutcome = { state: 'done', note: 'two runs' };

describe('the inbox worker', () => {
  test.each<DeliveryOutcome>([
    done,
    { state: 'ignored', note: 'a tag' },
    { state: 'failed', note: 'payload not understood' },
  ])('writes down that a delivery is $state, and why', async (outcome) => {
    await using opened = await openWorker(() => Promise.resolve(outcome));
    const { store, worker, put } = opened;
    await put('a');

    worker.start();

    await eventually(async () => expect(await store.find('a')).toMatchObject({ ...outcome, attempts: 1 }));
  });

  test('handles the deliveries of a lane one at a time, in the order of arrival', async () => {
    const seen: string[] = [];
    let busy = 0;
    await using opened = await openWorker(async ({ id }) => {
      busy += 1;
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${id}${busy}`);
      busy -= 1;
      return done;
    });
    const { worker, put, store } = opened;
    for (const id of ['c', 'a', 'b']) await put(id);

    worker.start();

    await eventually(async () => expect(await store.nextDueMs([])).toBeNull());
    expect(seen).toEqual(['c1', 'a1', 'b1']);
  });

  test('takes what comes while it sleeps when it is woken', async () => {
    const handle = vi.fn<Handle>(() => Promise.resolve(done));
    await using opened = await openWorker(handle);
    const { worker, put } = opened;
    await put('a');
    worker.start();
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1));

    await put('b');
    worker.wake();

    await eventually(() => expect(handle).toHaveBeenCalledTimes(2));
  });

  test('tries again after a failure, later each time, and says so', async () => {
    let isBroken = true;
    await using opened = await openWorker(() => {
      if (isBroken) throw new UserError('github-unavailable', 'GitHub could not be asked.');
      return Promise.resolve(done);
    });
    const { worker, put, store, clock } = opened;
    await put('a');
    const firstMs = clock.ms;

    worker.start();
    await eventually(async () =>
      expect(await store.find('a')).toMatchObject({
        state: 'pending',
        attempts: 1,
        nextAtMs: firstMs + 2000,
        note: 'github-unavailable: GitHub could not be asked.',
      }),
    );
    clock.ms += 2000;
    worker.wake();
    await eventually(async () =>
      expect(await store.find('a')).toMatchObject({ attempts: 2, nextAtMs: firstMs + 10_000 }),
    );
    isBroken = false;
    clock.ms += 8000;
    worker.wake();

    await eventually(async () => expect(await store.find('a')).toMatchObject({ ...done, attempts: 3 }));
  });

  test('does not let a delivery that fails hold up the next', async () => {
    await using opened = await openWorker(({ id }) =>
      id === 'broken' ? Promise.reject(new Error('boom')) : Promise.resolve(done),
    );
    const { worker, put, store } = opened;
    await put('broken');
    await put('fine');

    worker.start();

    await eventually(async () => expect(await store.find('fine')).toMatchObject(done));
    expect(await store.find('broken')).toMatchObject({ state: 'pending', note: 'boom' });
  });

  test('gives up after the last attempt, keeps the delivery, and takes it up when replayed', async () => {
    let isBroken = true;
    await using opened = await openWorker(() =>
      isBroken ? Promise.reject(new Error('boom')) : Promise.resolve(done),
    );
    const { worker, put, store, clock, database, errors } = opened;
    await put('a');
    worker.start();
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      await eventually(async () => expect(await store.find('a')).toMatchObject({ attempts: attempt }));
      await eventually(async () => expect((await store.find('a'))?.note).toBe('boom'));
      if (attempt === maxAttempts) break;
      await eventually(async () => expect(await store.nextDueMs([])).toBeGreaterThan(clock.ms));
      clock.ms += backoffMs(attempt);
      worker.wake();
    }
    await eventually(async () =>
      expect(await store.find('a')).toMatchObject({ state: 'failed', note: 'boom', attempts: maxAttempts }),
    );
    expect(errors.map((line) => JSON.parse(line))).toMatchObject([
      { delivery: 'a', note: 'boom', level: 50 },
    ]);

    isBroken = false;
    await database.write((tx) => store.reopen(tx, 'a', clock.ms));
    worker.wake();

    await eventually(async () => expect(await store.find('a')).toMatchObject(done));
  });

  test('handles other lanes meanwhile, so many at once and no more', async () => {
    const letGo = Promise.withResolvers<DeliveryOutcome>();
    const begun: string[] = [];
    await using opened = await openWorker(({ id }) => {
      begun.push(id);
      return id.startsWith('stuck') ? letGo.promise : Promise.resolve(done);
    });
    const { store, worker, put, clock } = opened;
    for (let lane = 1; lane < maxInHand; lane += 1) {
      await put(`stuck-${lane}`, clock.ms, `repository ${lane}`);
      await put(`behind-${lane}`, clock.ms, `repository ${lane}`);
    }
    for (const id of ['free-1', 'free-2', 'stuck-last', 'out']) await put(id, clock.ms, `repository ${id}`);

    worker.start();
    await eventually(() => expect(begun).toContain('stuck-last'));

    expect(begun.filter((id) => id.startsWith('free'))).toEqual(['free-1', 'free-2']);
    expect(begun).toHaveLength(maxInHand + 2);
    letGo.resolve(done);
    await eventually(async () => expect(await store.nextDueMs([])).toBeNull());
    expect(begun).toHaveLength(2 * maxInHand + 2);
  });

  test('lets a later delivery of the lane pass one that waits for its next attempt', async () => {
    const seen: string[] = [];
    await using opened = await openWorker(({ id, attempt }) => {
      seen.push(`${id} ${attempt}`);
      return id === 'first' && attempt === 1 ? Promise.reject(new Error('boom')) : Promise.resolve(done);
    });
    const { store, worker, put, clock } = opened;
    await put('first');
    await put('second');
    worker.start();
    await eventually(async () => expect(await store.find('second')).toMatchObject(done));

    clock.ms += 2000;
    worker.wake();

    await eventually(async () => expect(await store.find('first')).toMatchObject(done));
    expect(seen).toEqual(['first 1', 'second 1', 'first 2']);
  });

  test('handles again what it had in hand when the process died', async () => {
    const handle = vi.fn<Handle>(() => new Promise(() => undefined));
    await using opened = await openWorker(handle);
    const { store, clock, put, database } = opened;
    const again = vi.fn<Handle>(() => Promise.resolve(done));
    await put('a');
    await put('b', clock.ms, 'repository 6');
    // A worker that never comes to an end and is not waited for: what a kill leaves.
    opened.worker.start();
    await eventually(() => expect(handle).toHaveBeenCalledTimes(2));
    const parts = { store, transactions: database, clock, logger: createLogger('silent') };
    await using next = createInboxWorker({ ...parts, handle: again });
    next.start();

    // Not at once: one that kills the process must not do it again before the others had their turn.
    await put('c', clock.ms, 'repository 7');
    next.wake();
    await eventually(async () => expect(await store.find('c')).toMatchObject({ ...done, attempts: 1 }));
    expect(await store.find('a')).toMatchObject({ state: 'pending', attempts: 1 });
    clock.ms += backoffMs(1);
    next.wake();

    await eventually(async () => expect(await store.find('a')).toMatchObject({ ...done, attempts: 2 }));
    await eventually(async () => expect(await store.find('b')).toMatchObject({ ...done, attempts: 2 }));
    opened.abandon();
  });

  test('gives up a delivery that kills the process every time, and says so', async () => {
    const handle = vi.fn<Handle>(() => Promise.resolve(done));
    await using opened = await openWorker(handle);
    const { store, clock, put, database, worker, errors } = opened;
    await put('a');
    await put('b');
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      expect(await database.write((tx) => store.claim(tx, clock.ms, []))).toMatchObject({ id: 'a', attempt });
    }

    worker.start();

    await eventually(async () => expect(await store.find('b')).toMatchObject(done));
    expect(await store.find('a')).toMatchObject({
      state: 'failed',
      note: 'given up after 16 attempts; the server died during the last of them',
    });
    expect(handle).toHaveBeenCalledTimes(1);
    expect(errors.map((line) => JSON.parse(line))).toMatchObject([{ delivery: 'a', state: 'failed' }]);
  });

  test.each([
    ['while it runs', false],
    ['while it does not', true],
  ])('does not wait for a time that a clock set back %s has moved far away', async (_, isRestarted) => {
    let isBroken = true;
    await using opened = await openWorker(() =>
      isBroken ? Promise.reject(new Error('boom')) : Promise.resolve(done),
    );
    const { store, clock, put, worker } = opened;
    await put('a');
    worker.start();
    await eventually(async () => expect(await store.find('a')).toMatchObject({ note: 'boom' }));
    if (isRestarted) await worker[Symbol.asyncDispose]();
    isBroken = false;

    clock.ms -= 86_400_000;
    await using next = opened.restarted();
    (isRestarted ? next : worker).start();
    worker.wake();

    await eventually(async () => expect(await store.find('a')).toMatchObject({ ...done, attempts: 2 }));
  });

  test('a clock that jumps ahead makes it try early, and no more often than that', async () => {
    const handle = vi.fn<Handle>(() => Promise.reject(new Error('boom')));
    await using opened = await openWorker(handle);
    const { store, clock, put, worker } = opened;
    await put('a');
    worker.start();
    await eventually(async () => expect(await store.find('a')).toMatchObject({ note: 'boom' }));

    clock.ms += 365 * 86_400_000;
    worker.wake();

    await eventually(async () =>
      expect(await store.find('a')).toMatchObject({ attempts: 2, nextAtMs: clock.ms + backoffMs(2) }),
    );
    worker.wake();
    await eventually(async () => expect(await store.find('a')).toMatchObject({ note: 'boom' }));
    expect(handle).toHaveBeenCalledTimes(2);
  });

  test('finishes what it has in hand before it stops', async () => {
    const letGo = Promise.withResolvers<DeliveryOutcome>();
    const begun = Promise.withResolvers<void>();
    await using opened = await openWorker(() => {
      begun.resolve();
      return letGo.promise;
    });
    const { store, put, worker } = opened;
    await put('a');
    await put('b');
    worker.start();
    await begun.promise;

    const stopped = worker[Symbol.asyncDispose]();
    letGo.resolve(done);
    await stopped;

    expect(await store.find('a')).toMatchObject(done);
    expect(await store.find('b')).toMatchObject({ state: 'pending', attempts: 0 });
  });

  test('gives back what the stop of the server cut off: it is no failure', async () => {
    const begun = Promise.withResolvers<void>();
    const cutOff = Promise.withResolvers<DeliveryOutcome>();
    await using opened = await openWorker(() => {
      begun.resolve();
      return cutOff.promise;
    });
    const { store, put, worker, clock, database } = opened;
    await put('a');
    // As many times as it may fail: the last attempt must not be used up by a stop either.
    for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
      await database.write((tx) => store.claim(tx, clock.ms, []));
    }
    worker.start();
    await begun.promise;

    const stopped = worker[Symbol.asyncDispose]();
    cutOff.reject(new Error('aborted'));
    await stopped;

    expect(await store.find('a')).toMatchObject({
      ...{ state: 'pending', attempts: maxAttempts - 1, nextAtMs: clock.ms },
      note: 'the server was stopped while handling it; it is handled at the next start',
    });
  });

  test.each([
    ['done', 10_000, 10_000],
    ['ignored', 20_000, 16_385],
    ['failed', 10_000, 501],
  ] as const)('keeps of a long note what says why: %s', async (state, length, kept) => {
    await using opened = await openWorker(() => Promise.resolve({ state, note: 'x'.repeat(length) }));
    const { store, worker, put } = opened;
    await put('a');

    worker.start();

    await eventually(async () => expect((await store.find('a'))?.note).toHaveLength(kept));
  });

  test('forgets deliveries after ninety days', async () => {
    await using opened = await openWorker(() => Promise.resolve(done));
    const { store, clock, put, database, worker } = opened;
    for (const [id, days] of [
      ['old', 91],
      ['young', 89],
    ] as const) {
      await put(id, clock.ms - days * 86_400_000);
      await database.write((tx) => store.settle(tx, id, done));
    }

    worker.start();

    await eventually(async () => expect(await store.find('old')).toBeNull());
    expect(await store.find('young')).not.toBeNull();
  });

  test('drops bodies after seven days and not before', async () => {
    await using opened = await openWorker(() => Promise.resolve(done));
    const { store, clock, put, database, worker, restarted } = opened;
    const dayMs = 86_400_000;
    for (const [id, days] of [
      ['old', 8],
      ['young', 6],
    ] as const) {
      await put(id, clock.ms - days * dayMs);
      await database.write((tx) => store.settle(tx, id, done));
    }
    const isReplayable = (id: string) => database.write((tx) => store.reopen(tx, id, clock.ms + dayMs));

    worker.start();

    const bodies = () => database.read.selectFrom('inbox').select('body').where('body', 'is not', null);
    await eventually(async () => expect(await bodies().execute()).toHaveLength(1));
    await worker[Symbol.asyncDispose]();
    expect([await isReplayable('old'), await isReplayable('young')]).toEqual([false, true]);
    await restarted()[Symbol.asyncDispose]();
  });
});

test('delays grow to half an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 16].map(backoffMs)).toEqual([
    2000, 8000, 32_000, 128_000, 512_000, 1_800_000, 1_800_000,
  ]);
});
