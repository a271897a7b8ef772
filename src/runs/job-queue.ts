import type { Tx } from '../tx.ts';

/**
 * Durable work with leases: at least once, in no order but priority and age. It knows nothing of runs; it
 * delivers "do this" to one holder at a time, and a holder that fell silent is replaced.
 */
export interface JobQueue {
  /**
   * In the caller's transaction. While an unfinished job of the queue has the key, nothing is added and
   * 'duplicate' is answered.
   */
  enqueue(tx: Tx, job: NewJob): Promise<'enqueued' | 'duplicate'>;
  /**
   * In a transaction of the caller, so that what the claim means (a state) is written with it. Highest
   * priority first, then oldest. Null when nothing is due, or nothing of `minPriority` or more.
   */
  claim(tx: Tx, queue: string, minPriority?: number): Promise<Job | null>;
  /**
   * Extends the lease, one that ran out too, as long as nobody released the job. False: it is lost,
   * somebody else may have the job, stop at once.
   */
  renew(lease: Lease): Promise<boolean>;
  /** In the caller's transaction; false when the lease is lost, and then the caller must roll back. */
  holds(tx: Tx, lease: Lease): Promise<boolean>;
  /** The job is done. False when the lease is lost. */
  finish(tx: Tx, lease: Lease): Promise<boolean>;
  /** Puts it back for later. False when the lease is lost. */
  retryLater(tx: Tx, lease: Lease, runAtMs: number): Promise<boolean>;
  /** Removes the unfinished job with the key, claimed or not: a holder finds its lease lost. */
  cancel(tx: Tx, queue: string, key: string): Promise<void>;
  /** Every job that is not done, whoever has it. */
  unfinished(tx: Tx, queue: string): Promise<readonly Job[]>;
  /** Jobs whose lease ran out. They are not offered to `claim` until `release` was called. */
  expired(tx: Tx, queue: string): Promise<readonly Job[]>;
  /**
   * Makes an expired job claimable at once; its attempt number stays, so the old holder is fenced. Nothing
   * happens to a job that is not expired (any more).
   */
  release(tx: Tx, job: Job): Promise<void>;
  /** Ends every lease now: for the start of the only server of this database. */
  expireAll(): Promise<void>;
  /** Resolves when there may be work in the queue, at the latest after `maxMs`. */
  waitForWork(queue: string, maxMs: number, signal: AbortSignal): Promise<void>;
}

export interface NewJob {
  readonly queue: string;
  readonly key: string;
  /** Higher first. */
  readonly priority: number;
  readonly runAtMs: number;
  readonly data: unknown;
}

export interface Lease {
  readonly id: string;
  /** Counts claims: every report with an older number is refused. */
  readonly attempt: number;
}

export interface Job extends Lease {
  readonly queue: string;
  readonly key: string;
  readonly data: unknown;
}
