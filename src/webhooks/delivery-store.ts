import type { RunState } from '../runs/run.ts';
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
  /** Null while it runs, when nothing went over the wire, and in lists. */
  readonly exchange: AttemptExchange | null;
}

/** What an attempt looked like on the wire. It holds no secret, and no value of a custom header. */
export interface AttemptExchange {
  /** The key of X-Signature: "key:" and the first 8 hex digits of the secret's SHA-256. Null without a secret. */
  readonly key: string | null;
  readonly request: {
    /** Names in lower case; values of custom headers are `***`. */
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Null when none came. */
  readonly response: ExchangedResponse | null;
  /** Null when no connection was made. */
  readonly connection: ExchangedConnection | null;
  readonly timingsMs: ExchangeTimings;
  /** A kept connection was reset before any answer, and the request was sent once more, at once, on another. */
  readonly resentAtOnce: boolean;
}

export interface ExchangedResponse {
  /** At most 16 KiB, more is no answer. What came more than once is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Up to 64 KiB, as text; base64 when it is not UTF-8. */
  readonly body: string;
  readonly bodyEncoding: 'utf8' | 'base64';
  readonly bodyTruncated: boolean;
  /** Where a redirect points, which is never followed. */
  readonly location: string | null;
}

export interface ExchangedConnection {
  /** What was dialled. */
  readonly address: string;
  readonly port: number;
  readonly reused: boolean;
  /** `validTo` in Unix seconds: when the receiver's certificate ends. Null for http:. */
  readonly tls: { readonly protocol: string; readonly validTo: number | null } | null;
}

/** Null for what did not happen: on a kept connection there is no name to resolve and nothing to connect. */
export interface ExchangeTimings {
  readonly dns: number | null;
  readonly connect: number | null;
  readonly tls: number | null;
  /** From the beginning to the first byte of the response. */
  readonly firstByte: number | null;
  readonly total: number;
}

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly stateVersion: number;
  /** Null: it tells of the state change. Else it is what this policy sends because of it. */
  readonly policy: DeliveringPolicy | null;
  /** What the run became; null for a change that is not on record, and for what a policy sends. */
  readonly state: RunState | null;
  readonly status: DeliveryStatus;
  /** Null when none is planned, and while one is in flight. */
  readonly nextAttemptAtMs: number | null;
  readonly createdAtMs: number;
  /** In order. */
  readonly attempts: readonly Attempt[];
}

export interface DeliveringPolicy {
  readonly id: string;
  readonly name: string;
}

/** What the overview of a run needs of a delivery that tells of a state change. */
export interface DeliverySummary extends Pick<Delivery, 'id' | 'webhookId' | 'stateVersion' | 'status'> {
  /** An attempt is in flight or to come. */
  readonly isPlanned: boolean;
  /** Null while one is in flight, and when none is to come. */
  readonly nextAttemptAtMs: number | null;
}

/** Which deliveries of a webhook, and how many; newest first. */
export interface DeliveryQuery {
  /** The id of the last one seen. */
  readonly before: string | null;
  readonly limit: number;
  readonly status?: DeliveryStatus | undefined;
  readonly runId?: string | undefined;
  readonly state?: RunState | undefined;
}

export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly stateVersion: number;
  readonly createdAtMs: number;
}

/** What a policy sends, which is no state change. */
export interface NewPolicyRequest extends NewDelivery {
  readonly policy: DeliveringPolicy;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A delivery that is ours to send until the lease ends. */
export interface Claim {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** The version of the webhook now. */
  readonly webhookVersion: number;
  readonly runId: string;
  readonly stateVersion: number;
  /** Fences the result: an older number is refused. */
  readonly attempt: number;
  /** Attempts of this round, this one included. */
  readonly tries: number;
  readonly startedAtMs: number;
  /** How often its signature was refused: chooses the key. */
  readonly rejections: number;
  /** Of the delivery. */
  readonly createdAtMs: number;
  /** What to send; null when nobody wrote it. */
  readonly body: Uint8Array | null;
  /** What a policy adds to the headers of the webhook. Left out: it tells of a state change. */
  readonly policyHeaders?: Readonly<Record<string, string>>;
}

export interface ClaimOptions {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  /** Where to look, in this order. */
  readonly wants: readonly Want[];
}

export interface Want {
  readonly webhookId: string;
  /** Then, over all claims that are not finished. */
  readonly inFlightAtMost: number;
}

export interface Claimed {
  readonly claims: readonly Claim[];
  /** What the webhooks that were looked at have beyond that. */
  readonly queues: readonly Queue[];
}

export interface Queue {
  readonly webhookId: string;
  /** When there may be something due; null for never. Not later than now when it waits for one in flight. */
  readonly nextAtMs: number | null;
}

/** What failed since the last success; a webhook that works has none. */
export interface WebhookHealth {
  readonly failedAttempts: number;
  readonly failingSinceMs: number;
  readonly lastFailedAtMs: number;
  /** Deliveries given up. */
  readonly exhausted: number;
  /** How many warnings were given. */
  readonly warnings: number;
  /** Nothing is sent before: the receiver asked for it. */
  readonly pausedUntilMs: number | null;
  /** The kind of failure, one word, and the status where there was one: "timeout", "status 503". */
  readonly lastError: string;
}

export interface Finished {
  readonly deliveryId: string;
  readonly attempt: number;
  /** As in the claim. */
  readonly startedAtMs: number;
  readonly outcome: Exclude<AttemptOutcome, 'started'>;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly detail: string | null;
  readonly durationMs: number;
  readonly exchange: AttemptExchange | null;
  /** 'unchanged' for an attempt that says nothing about the delivery. */
  readonly status: 'delivered' | 'failed' | 'exhausted' | 'unchanged';
  readonly nextAttemptAtMs: number | null;
  /** As in the claim, or one more. */
  readonly rejections: number;
}

export interface DroppedAttempts {
  readonly dropped: number;
  readonly next: string | null;
}

/** Where payloads, deliveries and attempts live. Reads see committed data. */
export interface DeliveryStore {
  /** Once for each state change of a run, whether or not a webhook wants it. */
  insertPayload(tx: Tx, runId: string, stateVersion: number, body: Uint8Array): Promise<void>;
  payload(runId: string, stateVersion: number, tx?: Tx): Promise<Uint8Array | null>;
  /** What a delivery sends. */
  body(delivery: Pick<Delivery, 'id' | 'runId' | 'stateVersion' | 'policy'>): Promise<Uint8Array | null>;
  /** Of the newest run of the stack, its last. */
  latestPayload(stackKey: string): Promise<Uint8Array | null>;
  /** Due at once. False when the webhook has a delivery of that state change already. */
  insert(tx: Tx, delivery: NewDelivery): Promise<boolean>;
  /** Due at once, and in the way of no state change. */
  insertRequest(tx: Tx, request: NewPolicyRequest): Promise<void>;

  /**
   * Leases what is due for enabled webhooks, and makes the attempt of each 'started'. A first attempt waits while an
   * earlier state of the same run is pending for the same webhook; later attempts wait for nobody. A lease that ran
   * out is due again, and its attempt becomes 'unknown'.
   */
  claim(tx: Tx, options: ClaimOptions): Promise<Claimed>;
  /**
   * Stores results, ends their leases, and gives back those that count. One whose claim is not ours any more
   * does not: only its attempt is noted. What was stopped meanwhile stays stopped, unless it was delivered.
   */
  finish(tx: Tx, finished: readonly Finished[]): Promise<readonly Finished[]>;
  /** Undoes a claim of which nothing was sent. */
  handBack(tx: Tx, claim: Claim): Promise<void>;
  /** Makes all leases run out: for the start of the only server of this database. */
  endLeases(tx: Tx): Promise<void>;
  /** No further attempt of what is not delivered: 'skipped'. An attempt in flight ends as it ends. */
  stopPending(tx: Tx, webhookId: string): Promise<void>;
  /** A new round from now on. One that is in flight is left alone, and not stopped any more. */
  restart(tx: Tx, id: string, nowMs: number): Promise<'due' | 'in-flight' | 'missing'>;
  /** The clock was set back by so much: what is planned keeps its distance from now. */
  moveTimes(tx: Tx, backMs: number): Promise<void>;
  /** Every webhook with anything to come, however much that is. */
  queues(): Promise<readonly Queue[]>;

  health(webhookId: string): Promise<WebhookHealth | null>;
  /** Those of the webhooks that have one. */
  healths(tx: Tx, webhookIds: readonly string[]): Promise<ReadonlyMap<string, WebhookHealth>>;
  saveHealth(tx: Tx, webhookId: string, health: WebhookHealth): Promise<void>;
  /** It works again, or somebody says so. */
  clearHealth(tx: Tx, webhookId: string): Promise<void>;

  /**
   * Drops the attempts of settled deliveries made before `createdBeforeMs`: at most `limit` deliveries that have
   * any, in the order of their making, from behind `after` on. `next` is where to go on, null at the end.
   */
  dropAttempts(
    tx: Tx,
    options: { readonly createdBeforeMs: number; readonly after: string | null; readonly limit: number },
  ): Promise<DroppedAttempts>;

  /** With the exchanges of its attempts. */
  find(id: string): Promise<Delivery | null>;
  /** Newest first, without exchanges. */
  listOfWebhook(webhookId: string, query: DeliveryQuery): Promise<readonly Delivery[]>;
  /** Of the newest delivery that was ever tried, its last; without its exchange. Null when nothing was ever sent. */
  lastAttempt(webhookId: string): Promise<Attempt | null>;
  /** All webhooks. */
  listOfRun(runId: string): Promise<readonly DeliverySummary[]>;
}
