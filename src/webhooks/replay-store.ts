import type { RunState } from '../runs/run.ts';
import type { Tx } from '../tx.ts';
import type { EventFilter } from './webhook.ts';

/**
 * - running: more is queued as the receiver takes it
 * - done: all of it is queued; what became of it, the deliveries say
 * - canceled: by a person, or because the webhook was disabled
 */
export type ReplayStatus = 'running' | 'done' | 'canceled';

/** State changes of a while that are sent to one webhook again. */
export interface Replay {
  readonly id: string;
  readonly webhookId: string;
  readonly range: ReplayRange;
  readonly status: ReplayStatus;
  /** State changes that were found at the beginning, and those that are queued so far. */
  readonly total: number;
  readonly queued: number;
  readonly createdAtMs: number;
  readonly createdBy: string;
  /** Null while it runs. */
  readonly endedAtMs: number | null;
}

export interface ReplayRange {
  readonly sinceMs: number;
  /** Exclusive. */
  readonly untilMs: number;
  /** Null: every state. */
  readonly state: RunState | null;
  /** Only what was not delivered: given up, skipped, or never queued. */
  readonly failedOnly: boolean;
}

/** Which state changes a replay is about: those of the stack in that while that the webhook wants. */
export interface ReplayScope extends ReplayRange {
  readonly webhookId: string;
  readonly stackKey: string;
  readonly filter: EventFilter;
}

export interface ReplayCount {
  readonly states: ReadonlyMap<RunState, number>;
  /** Behind the first and at the last of them, in the order of commits; 0 when there is none. */
  readonly position: number;
  readonly last: number;
  /** When the oldest state change that is kept of the stack happened; null when there is none. */
  readonly oldestMs: number | null;
}

export interface NewReplay extends Omit<Replay, 'status' | 'queued' | 'endedAtMs'> {
  readonly position: number;
  readonly last: number;
}

/** A running replay, as the loop that feeds it sees it. */
export interface RunningReplay {
  readonly id: string;
  readonly webhookId: string;
  readonly range: ReplayRange;
  readonly position: number;
  readonly last: number;
  /** Of what it queued: not tried yet, and tried in vain. */
  readonly waiting: number;
  readonly failing: number;
  /** The webhook was disabled since, if only for a moment. */
  readonly skipped: number;
}

export interface ReplayItem {
  readonly runId: string;
  readonly stateVersion: number;
  /** Null when that state change was never queued for the webhook. */
  readonly deliveryId: string | null;
}

export interface ReplayBatch {
  readonly items: readonly ReplayItem[];
  /** Where the next batch begins. */
  readonly position: number;
}

/** Where replays live, and how they find what to send. Reads see committed data, with `tx` the transaction. */
export interface ReplayStore {
  count(scope: ReplayScope): Promise<ReplayCount>;
  /** Running. Rejects when the webhook has a running one. */
  insert(tx: Tx, replay: NewReplay): Promise<void>;
  /** Oldest first. `tx`: exactly what is to be changed now. */
  running(tx?: Tx): Promise<readonly RunningReplay[]>;
  /** At most `limit` of the state changes behind `after`, to `last`, in the order of commits. */
  next(
    tx: Tx,
    scope: ReplayScope,
    options: { readonly after: number; readonly last: number; readonly limit: number },
  ): Promise<ReplayBatch>;
  /** Notes how far a replay is and which deliveries it queued. */
  advance(
    tx: Tx,
    id: string,
    step: { readonly position: number; readonly deliveryIds: readonly string[] },
  ): Promise<void>;
  /** False when it was over already, or there is none. */
  end(tx: Tx, id: string, status: 'done' | 'canceled', nowMs: number): Promise<boolean>;

  find(id: string): Promise<Replay | null>;
  /** Newest first. `before` is the id of the last one seen. */
  listOfWebhook(
    webhookId: string,
    options: { readonly before: string | null; readonly limit: number },
  ): Promise<readonly Replay[]>;
  /** At most `limit` that ended before that time. Resolves with how many it were. */
  removeEnded(tx: Tx, options: { readonly endedBeforeMs: number; readonly limit: number }): Promise<number>;
}
