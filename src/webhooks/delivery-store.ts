import type { Tx } from '../tx.ts';

/**
 * - pending: its first attempt (of this round) has no result yet
 * - failed: the last attempt failed; `nextAttemptAtMs` says when the next is, null after 410
 * - exhausted: failed to the end of the schedule
 * - skipped: the webhook was disabled before it was delivered
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'exhausted' | 'skipped';

/**
 * 'started' is written before anything is sent. An attempt whose process died becomes 'unknown': it may or
 * may not have arrived. 'blocked': the target was refused, no connection was made.
 */
export type AttemptOutcome = 'started' | 'delivered' | 'failed' | 'blocked' | 'unknown';

export interface Attempt {
  readonly number: number;
  readonly startedAtMs: number;
  readonly durationMs: number | null;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  /** The kind of failure, one word. */
  readonly error: string | null;
  /** The code behind it, or why the target was blocked. */
  readonly detail: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly stateVersion: number;
  readonly status: DeliveryStatus;
  /** Null when none is planned, and while one is in flight. */
  readonly nextAttemptAtMs: number | null;
  readonly createdAtMs: number;
  /** In order. */
  readonly attempts: readonly Attempt[];
}

export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly stateVersion: number;
  readonly createdAtMs: number;
}

/** A delivery that is ours to send until the lease ends. */
export interface Claim {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly stateVersion: number;
  /** Fences the result: an older number is refused. */
  readonly attempt: number;
  /** Attempts of this round, this one included. */
  readonly tries: number;
}

export interface ClaimOptions {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly limit: number;
  /** In flight at once for one webhook, over all claims that are not finished. */
  readonly perWebhook: number;
  /** Webhooks take turns: the one served last, null for no preference. */
  readonly afterWebhook: string | null;
}

export interface Finished {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly outcome: Exclude<AttemptOutcome, 'started'>;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly detail: string | null;
  readonly durationMs: number;
  /** 'unchanged' for an attempt that says nothing about the delivery. */
  readonly status: 'delivered' | 'failed' | 'exhausted' | 'unchanged';
  readonly nextAttemptAtMs: number | null;
}

export interface DroppedAttempts {
  readonly dropped: number;
  readonly next: string | null;
}

/** Where payloads, deliveries and attempts live. Reads see committed data. */
export interface DeliveryStore {
  /** Once for each state change of a run, whether or not a webhook wants it. */
  insertPayload(tx: Tx, runId: string, stateVersion: number, body: Uint8Array): Promise<void>;
  payload(runId: string, stateVersion: number): Promise<Uint8Array | null>;
  /** Due at once. False when the webhook has a delivery of that state change already. */
  insert(tx: Tx, delivery: NewDelivery): Promise<boolean>;

  /**
   * Leases what is due, webhook by webhook, and writes a 'started' attempt for each. A first attempt waits
   * while an earlier state of the same run is pending for the same webhook; later attempts wait for nobody.
   * A lease that ran out is due again, and its attempt becomes 'unknown'.
   */
  claim(tx: Tx, options: ClaimOptions): Promise<readonly Claim[]>;
  /**
   * Stores a result and ends the lease. False when the claim is not ours any more: then only the attempt is
   * noted. What was stopped meanwhile stays stopped, unless it was delivered.
   */
  finish(tx: Tx, finished: Finished): Promise<boolean>;
  /** Undoes a claim of which nothing was sent. */
  handBack(tx: Tx, claim: Claim, nowMs: number): Promise<void>;
  /** Makes all leases run out now: for the start of the only server of this database. */
  endLeases(tx: Tx, nowMs: number): Promise<void>;
  /** No further attempt of what is not delivered: 'skipped'. An attempt in flight ends as it ends. */
  stopPending(tx: Tx, webhookId: string): Promise<void>;
  /** A new round from now on. Nothing changes while an attempt is in flight. */
  restart(tx: Tx, id: string, nowMs: number): Promise<'due' | 'in-flight' | 'missing'>;
  /** When there is something to claim, null for never. */
  nextDueMs(): Promise<number | null>;

  /**
   * Drops the attempts of settled deliveries made before `createdBeforeMs`: at most `limit` deliveries that have
   * any, in the order of their making, from behind `after` on. `next` is where to go on, null at the end.
   */
  dropAttempts(
    tx: Tx,
    options: { readonly createdBeforeMs: number; readonly after: string | null; readonly limit: number },
  ): Promise<DroppedAttempts>;

  find(id: string): Promise<Delivery | null>;
  /** Newest first. `before` is the id of the last one seen. */
  listOfWebhook(
    webhookId: string,
    options: { readonly before: string | null; readonly limit: number },
  ): Promise<readonly Delivery[]>;
}
