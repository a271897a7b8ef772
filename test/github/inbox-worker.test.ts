import { describe, expect, test, vi } from 'vitest';
import { backoffMs, maxAttempts } from '../../src/github/backoff.ts';
import type { Delivery, DeliveryOutcome } from '../../src/github/inbox-store.ts';
import { createInboxWorker } from '../../src/github/inbox-worker.ts';
import { createInboxStore } from '../../src/storage/inbox-store.ts';
import { UserError } from '../../src/user-error.ts';
import { aClock, eventually, silent, tempDatabase } from './support.ts';

type Handle = (delivery: Delivery) => Promise<DeliveryOutcome>;

async function openWorker(handle: Handle) {
  const temp = await tempDatabase();
  const { database } = temp;
  const store = createInboxStore(database);
  const clock = aClock();
  const start = () => createInboxWorker({ store, transactions: database, handle, clock, logger: silent });
  const worker = start();
  const put = (id: string, receivedAtMs = clock.ms) =>
    database.write((tx) => store.insert(tx, { id, event: 'push', body: Buffer.from('{}'), receivedAtMs }));
  return {
    store,
    clock,
    worker,
    put,
    database,
    /** Another worker on the same rows, as after a restart. */
    restarted: start,
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
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

  test('handles one delivery at a time, in the order of arrival', async () => {
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

    await eventually(async () => expect(await store.nextDueMs()).toBeNull());
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
    const { worker, put, store, clock, database } = opened;
    await put('a');
    worker.start();
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      await eventually(async () => expect(await store.find('a')).toMatchObject({ attempts: attempt }));
      await eventually(async () => expect((await store.find('a'))?.note).toBe('boom'));
      if (attempt === maxAttempts) break;
      await eventually(async () => expect(await store.nextDueMs()).toBeGreaterThan(clock.ms));
      clock.ms += backoffMs(attempt);
      worker.wake();
    }
    await eventually(async () =>
      expect(await store.find('a')).toMatchObject({ state: 'failed', note: 'boom', attempts: maxAttempts }),
    );

    isBroken = false;
    await database.write((tx) => store.reopen(tx, 'a', clock.ms));
    worker.wake();

    await eventually(async () => expect(await store.find('a')).toMatchObject(done));
  });

  test('handles again what it had in hand when the process died', async () => {
    const handle = vi.fn<Handle>(() => Promise.resolve(done));
    await using opened = await openWorker(handle);
    const { store, clock, put, database, worker } = opened;
    await put('a');
    // Claimed, and nothing written after: what a kill leaves.
    await database.write((tx) => store.claim(tx, clock.ms));

    worker.start();

    await eventually(async () => expect(await store.find('a')).toMatchObject({ ...done, attempts: 2 }));
  });

  test('gives up a delivery that kills the process every time', async () => {
    const handle = vi.fn<Handle>(() => Promise.resolve(done));
    await using opened = await openWorker(handle);
    const { store, clock, put, database, worker } = opened;
    await put('a');
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      await database.write((tx) => store.claim(tx, clock.ms));
    }

    worker.start();

    await eventually(async () => expect(await store.find('a')).toMatchObject({ state: 'failed' }));
    expect(handle).not.toHaveBeenCalled();
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
