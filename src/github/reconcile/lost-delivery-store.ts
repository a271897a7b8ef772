import type { Tx } from '../../tx.ts';

/** A delivery that GitHub lists and that is not in the inbox. */
export interface LostDelivery {
  /** X-GitHub-Delivery: a redelivery has the same. */
  readonly guid: string;
  /** GitHub's id of an attempt to deliver it, by which it is asked for. */
  readonly deliveryId: number;
  readonly event: string;
  /** Null: it is about no repository. */
  readonly repositoryId: number | null;
  /** When GitHub tried, by its clock. */
  readonly deliveredAtMs: number;
}

export interface WaitingDelivery extends LostDelivery {
  /** How often GitHub was asked to deliver it again. */
  readonly asks: number;
}

/**
 * What is known of GitHub's list of deliveries, so that a restart asks for nothing twice. It is in one database with
 * the inbox: whoever goes back to a backup goes back with both. Reads see committed data.
 */
export interface LostDeliveryStore {
  /** Up to where the list was read, by GitHub's clock; null before the first time. */
  readUntilMs(): Promise<number | null>;
  setReadUntil(tx: Tx, ms: number): Promise<void>;
  /** Of those ids, the ones that the inbox does not have. */
  missingInInbox(guids: readonly string[]): Promise<readonly string[]>;
  /** Waiting and due at once. False when it is known: nothing changes. */
  add(tx: Tx, lost: LostDelivery, nowMs: number): Promise<boolean>;
  /** The waiting one that is due for longest. */
  due(nowMs: number): Promise<WaitingDelivery | null>;
  /** When the next waiting one is due; null without one. */
  nextDueMs(): Promise<number | null>;
  /** Counts an ask (+1), or takes it back (-1), and says when to look again. */
  asked(tx: Tx, guid: string, change: 1 | -1, nextAtMs: number): Promise<void>;
  /** Stays known, and is not asked for again. */
  giveUp(tx: Tx, guid: string): Promise<void>;
  /** It has arrived. */
  remove(tx: Tx, guid: string): Promise<void>;
  /** Whether an event of that kind about the repository still may come. */
  isAwaited(event: string, repositoryId: number): Promise<boolean>;
  /** What waits until after `laterThanMs` is due at `nowMs`: for a clock that was set back. */
  bringForward(tx: Tx, laterThanMs: number, nowMs: number): Promise<void>;
  /** Forgets what GitHub delivered before that time and does not list any more. */
  forget(tx: Tx, deliveredBeforeMs: number): Promise<void>;
}
