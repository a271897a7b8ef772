import type { Tx } from '../../tx.ts';

/** What kind of thing GitHub shows; each has a sender. */
export type OutboxKind = 'check_run' | 'comment' | 'policy_comment' | 'reaction' | 'deployment';

export interface WantedItem {
  /** The same for every wish about one thing. */
  readonly id: string;
  readonly kind: OutboxKind;
  /** It goes with this run. Null: it belongs to none. */
  readonly runId: string | null;
  readonly repositoryId: number;
  /** One request at a time in a lane (`laneOf`), so that none overtakes another. */
  readonly lane: string;
  /** A later item of the slot takes the place of the earlier one, sent or not. Wanted without it, an item leaves its slot. */
  readonly slot?: string;
  /** JSON that the sender of the kind understands: only what cannot be read again when it is sent. */
  readonly desired: unknown;
}

/** Comments and reactions answer people: they do not queue behind the checks of a hundred stacks. */
export const laneOf = (repositoryId: number, kind: OutboxKind): string =>
  `${kind === 'check_run' || kind === 'deployment' ? 'checks' : 'talk'}:${repositoryId}`;

export interface StoredNote {
  readonly key: string;
  readonly text: string;
}

/** Something that GitHub does not show yet as it should. */
export interface PendingItem extends Omit<WantedItem, 'slot'> {
  readonly version: number;
  /** What GitHub knows it by, once known. */
  readonly remoteId: number | null;
  /** A create was sent before, perhaps with success: GitHub is searched before another is sent. */
  readonly createTried: boolean;
  /** Failures since the newest version was wanted. */
  readonly attempts: number;
  /** Shown with it, in the order in which they were added. */
  readonly notes: readonly string[];
}

export interface OutboxRecord {
  readonly kind: OutboxKind;
  readonly remoteId: number | null;
  readonly desired: unknown;
  readonly isSettled: boolean;
  readonly attempts: number;
  readonly nextAtMs: number;
  readonly lastError: string | null;
}

/**
 * What GitHub should show: check runs, comments, reactions, deployments. Only the newest wish about each is kept. Reads
 * see committed data.
 */
export interface OutboxStore {
  /** Replaces what was wanted under the id; due at that time, with attempts counted anew. */
  want(tx: Tx, wanted: WantedItem, dueMs: number): Promise<void>;
  /**
   * The same wish once more, because what it shows has changed; due as with `want`. False when nothing is wanted under
   * the id.
   */
  touch(tx: Tx, id: string, dueMs: number): Promise<boolean>;
  /**
   * Adds a note that stays, whatever is wanted later; due as with `want`. False when nothing is wanted under the id,
   * and when there is a note with that key.
   */
  addNote(tx: Tx, id: string, note: StoredNote, dueMs: number): Promise<boolean>;
  /**
   * The one that is due for longest, outside the busy lanes. What is wanted where the App is suspended, for a repository
   * that it does not see any more, or that is archived, is kept and not due: GitHub would refuse it.
   */
  due(nowMs: number, busyLanes: readonly string[]): Promise<PendingItem | null>;
  /** When the next such one is due; null without one. */
  nextDueMs(busyLanes: readonly string[]): Promise<number | null>;
  /** What waits until after `laterThanMs` is due at `nowMs`: for a clock that was set back. */
  bringForward(tx: Tx, laterThanMs: number, nowMs: number): Promise<void>;
  /** Committed before the first create is sent. */
  setCreateTried(tx: Tx, id: string): Promise<void>;
  /** GitHub shows that version; a newer wish stays due. Null: there was nothing to show. */
  sent(tx: Tx, id: string, version: number, remoteId: number | null): Promise<void>;
  /** Counts a failure of that version; a newer wish stays due. */
  retryLater(tx: Tx, id: string, version: number, nextAtMs: number, error: string): Promise<void>;
  /** Puts it off without counting: nothing was tried. */
  postpone(tx: Tx, id: string, nextAtMs: number): Promise<void>;
  /** The same for all of a kind that are due in the repositories of an installation: a limit is for all of them. */
  postponeDue(
    tx: Tx,
    of: { readonly installationId: number; readonly kind: OutboxKind; readonly nowMs: number },
    nextAtMs: number,
  ): Promise<void>;
  /** That version is not sent any more; a newer wish stays due. */
  giveUp(tx: Tx, id: string, version: number, error: string, nowMs: number): Promise<void>;
  /** How many are not shown yet, and how many were given up at `sinceMs` or later, with nothing newer wanted. */
  standing(sinceMs: number): Promise<{ readonly waiting: number; readonly givenUp: number }>;
  find(id: string, tx?: Tx): Promise<OutboxRecord | null>;
  /** What holds the slot. */
  inSlot(tx: Tx, slot: string): Promise<Pick<WantedItem, 'id' | 'desired'> | null>;
  /**
   * Forgets check runs that are of no run and have no slot, are shown as they should be, and were due before that time.
   * Says how many it were, at most `limit`.
   */
  removeOldChecks(tx: Tx, options: { readonly dueBeforeMs: number; readonly limit: number }): Promise<number>;
}
