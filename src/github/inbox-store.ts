import type { Tx } from '../tx.ts';

export interface NewDelivery {
  /** X-GitHub-Delivery. A redelivery has the same. */
  readonly id: string;
  /** X-GitHub-Event */
  readonly event: string;
  /** As it came; its signature was right. */
  readonly body: Uint8Array;
  readonly receivedAtMs: number;
}

/** A delivery that is being handled. */
export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly body: Uint8Array;
  /** 1 for the first; counted before the work begins, so that one which kills the process is counted too. */
  readonly attempt: number;
}

/** How the work on a delivery ended. `failed`: it will not get better by itself, a person may replay it. */
export interface DeliveryOutcome {
  readonly state: 'done' | 'ignored' | 'failed';
  /** What came of it, why nothing did, or what is wrong. */
  readonly note: string;
}

export interface DeliveryRecord {
  readonly id: string;
  readonly event: string;
  readonly state: 'pending' | DeliveryOutcome['state'];
  readonly attempts: number;
  readonly receivedAtMs: number;
  /** When it is looked at next; means nothing once it is settled. */
  readonly nextAtMs: number;
  readonly note: string | null;
}

/** GitHub's deliveries, kept before they are answered. Reads see committed data. */
export interface InboxStore {
  /**
   * Stores it as pending and due. 'duplicate' when the id is known and nothing changes; 'reopened' when
   * the id is known and had failed: GitHub's redelivery is how people ask for another go.
   */
  insert(tx: Tx, delivery: NewDelivery): Promise<'stored' | 'reopened' | 'duplicate'>;
  /** The pending delivery that is due for longest, with this attempt counted. It stays pending. */
  claim(tx: Tx, nowMs: number): Promise<Delivery | null>;
  /** When the next pending delivery is due; null when none is pending. */
  nextDueMs(): Promise<number | null>;
  settle(tx: Tx, id: string, outcome: DeliveryOutcome): Promise<void>;
  retryLater(tx: Tx, id: string, nextAtMs: number, note: string): Promise<void>;
  /** Makes a settled delivery pending again. False when it is unknown, pending, or its body was dropped. */
  reopen(tx: Tx, id: string, nowMs: number): Promise<boolean>;
  /**
   * Drops the bodies of at most `limit` settled deliveries that came before `receivedBeforeMs`, and says of
   * how many. Ids stay, so that an old request with its good signature cannot be played again.
   */
  dropBodies(tx: Tx, receivedBeforeMs: number, limit: number): Promise<number>;
  find(id: string): Promise<DeliveryRecord | null>;
}
