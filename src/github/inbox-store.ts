import type { Tx } from '../tx.ts';

export interface NewDelivery {
  /** X-GitHub-Delivery. A redelivery has the same. */
  readonly id: string;
  /** X-GitHub-Event */
  readonly event: string;
  /** What it is about; see inbox.ts. */
  readonly lane: string;
  /** As it came; its signature was right. */
  readonly body: Uint8Array;
  readonly receivedAtMs: number;
}

/** A delivery that is being handled. */
export interface Delivery extends NewDelivery {
  /** 1 for the first; counted before the work begins, so that one which kills the process is counted too. */
  readonly attempt: number;
}

/** How the work on a delivery ended. `failed`: it will not get better by itself, a person may replay it. */
export interface DeliveryOutcome {
  readonly state: 'done' | 'ignored' | 'failed';
  /** What came of it, why nothing did, or what is wrong. */
  readonly note: string;
}

export type DeliveryState = 'pending' | DeliveryOutcome['state'];

export interface DeliveryRecord {
  /** Order of arrival. */
  readonly seq: number;
  readonly id: string;
  readonly event: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly receivedAtMs: number;
  /** When it is looked at next, 0 = at once; means nothing once it is settled. */
  readonly nextAtMs: number;
  readonly note: string | null;
  /** Bytes of the body; null once it was dropped. */
  readonly size: number | null;
}

export interface DeliveryFilter {
  readonly state: DeliveryState | null;
  readonly event: string | null;
  /** A `seq`: only what came before it. Null = from the newest. */
  readonly before: number | null;
  readonly limit: number;
}

/** How the inbox as a whole is doing. */
export interface InboxStanding {
  readonly pending: number;
  /** When the oldest of them came; null without one. */
  readonly pendingSinceMs: number | null;
  /** Given up, and still there to be replayed. */
  readonly failed: number;
}

/** GitHub's deliveries, kept before they are answered. Reads see committed data. */
export interface InboxStore {
  /**
   * Stores it as pending and due at once, whatever the clock does. 'duplicate' when the id is known and
   * nothing changes; 'reopened' when the id is known and had failed: GitHub's redelivery is how people ask
   * for another go.
   */
  insert(tx: Tx, delivery: NewDelivery): Promise<'stored' | 'reopened' | 'duplicate'>;
  /** Of the pending deliveries that are due and in no busy lane the first that came, this attempt counted. It stays pending. */
  claim(tx: Tx, nowMs: number, busyLanes: readonly string[]): Promise<Delivery | null>;
  /** When the next pending delivery outside the busy lanes is due; null when there is none. */
  nextDueMs(busyLanes: readonly string[]): Promise<number | null>;
  settle(tx: Tx, id: string, outcome: DeliveryOutcome): Promise<void>;
  retryLater(tx: Tx, id: string, nextAtMs: number, note: string): Promise<void>;
  /** Takes a claim back: the attempt does not count, and the delivery is due at `nowMs`. */
  giveBack(tx: Tx, id: string, nowMs: number, note: string): Promise<void>;
  /** What is pending until after `laterThanMs` is due at `nowMs`: for a clock that was set back. */
  bringForward(tx: Tx, laterThanMs: number, nowMs: number): Promise<void>;
  /** Makes a settled delivery pending again. False when it is unknown, pending, or its body was dropped. */
  reopen(tx: Tx, id: string, nowMs: number): Promise<boolean>;
  /**
   * Drops the bodies of at most `limit` settled deliveries that came before `receivedBeforeMs`, and says of
   * how many. Ids stay, so that a redelivery of an old one does nothing.
   */
  dropBodies(tx: Tx, receivedBeforeMs: number, limit: number): Promise<number>;
  /** Forgets at most `limit` settled deliveries that came before `receivedBeforeMs`, and says how many. */
  forget(tx: Tx, receivedBeforeMs: number, limit: number): Promise<number>;
  find(id: string): Promise<DeliveryRecord | null>;
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<readonly DeliveryRecord[]>;
  /** Null when the delivery is unknown or its body was dropped. */
  body(id: string): Promise<Uint8Array | null>;
  standing(): Promise<InboxStanding>;
  /** Whether one of that event and lane is still to be handled. */
  hasPending(event: string, lane: string): Promise<boolean>;
}
