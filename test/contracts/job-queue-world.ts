import type { Job, JobQueue, NewJob } from '../../src/runs/job-queue.ts';
import type { Transactions } from '../../src/tx.ts';
import type { ManualClock } from '../support/manual-clock.ts';

export interface OpenedQueue extends AsyncDisposable {
  readonly queue: JobQueue;
  /** The same queue as another process has it, or a later life of this one. */
  another(): JobQueue;
  readonly transactions: Transactions;
  readonly clock: ManualClock;
  /** How long a holder may be silent. */
  readonly leaseMs: number;
}

/** The queue with each call in a transaction of its own. */
export async function openQueue(open: () => OpenedQueue | Promise<OpenedQueue>) {
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
export type QueueWorld = Awaited<ReturnType<typeof openQueue>>;

/** Every call of a holder, each of which must be refused once the lease is lost. */
export const reports = async (world: QueueWorld, job: Job) => [
  await world.queue.renew(job),
  await world.holds(job),
  await world.retryLater(job, 0),
  await world.finish(job),
];
export const refused = [false, false, false, false];

export function aJob(change: Partial<NewJob> = {}): NewJob {
  return { queue: 'work', key: 'run:1', priority: 0, runAtMs: 0, data: null, ...change };
}

export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('expected a value');
  return value;
}
