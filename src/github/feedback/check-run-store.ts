import type { Tx } from '../../tx.ts';
import type { CheckRunBody } from './check-run.ts';

export interface WantedCheckRun {
  /** What GitHub knows it by: `external_id`. Of a run, its id. */
  readonly id: string;
  /** Null: it is about the repository's file. */
  readonly runId: string | null;
  readonly repositoryId: number;
  readonly desired: CheckRunBody;
}

export interface StoredNote {
  readonly key: string;
  readonly text: string;
}

/** A check run that GitHub does not show yet as it should. */
export interface PendingCheckRun extends WantedCheckRun {
  readonly version: number;
  /** GitHub's id, once known. */
  readonly checkRunId: number | null;
  /** A create was sent before, perhaps with success: GitHub is searched before another is sent. */
  readonly createTried: boolean;
  /** Failures since the newest version was wanted. */
  readonly attempts: number;
  /** Shown under its summary, in the order in which they were added. */
  readonly notes: readonly string[];
}

export interface CheckRunRecord {
  readonly checkRunId: number | null;
  readonly desired: CheckRunBody;
  readonly isSettled: boolean;
  readonly attempts: number;
  readonly nextAtMs: number;
  readonly lastError: string | null;
}

/**
 * What GitHub should show of each run, and of the file of each repository. Only the newest wish is kept. Reads
 * see committed data.
 */
export interface CheckRunStore {
  /**
   * Replaces what was wanted under the id; due at once, with attempts counted anew. One about a file also
   * takes the place of the repository's earlier ones, sent or not. A run's goes with its run.
   */
  want(tx: Tx, wanted: WantedCheckRun, nowMs: number): Promise<void>;
  /**
   * Adds a note that stays, whatever is wanted later; due at once, with attempts counted anew. False when
   * nothing is wanted under the id, and when there is a note with that key.
   */
  addNote(tx: Tx, id: string, note: StoredNote, nowMs: number): Promise<boolean>;
  /**
   * The one that is due for longest, outside the busy repositories. What is wanted for an account on which the
   * App is suspended is kept and not due: GitHub would refuse it.
   */
  due(nowMs: number, busyRepositories: readonly number[]): Promise<PendingCheckRun | null>;
  /** When the next such one is due; null without one. */
  nextDueMs(busyRepositories: readonly number[]): Promise<number | null>;
  /** What waits until after `laterThanMs` is due at `nowMs`: for a clock that was set back. */
  bringForward(tx: Tx, laterThanMs: number, nowMs: number): Promise<void>;
  /** Committed before the first create is sent. */
  setCreateTried(tx: Tx, id: string): Promise<void>;
  /** GitHub shows that version; a newer wish stays due. */
  sent(tx: Tx, id: string, version: number, checkRunId: number): Promise<void>;
  /** Counts a failure of that version; a newer wish stays due. */
  retryLater(tx: Tx, id: string, version: number, nextAtMs: number, error: string): Promise<void>;
  /** Puts it off without counting: nothing was tried. */
  postpone(tx: Tx, id: string, nextAtMs: number): Promise<void>;
  /** That version is not sent any more; a newer wish stays due. */
  giveUp(tx: Tx, id: string, version: number, error: string, nowMs: number): Promise<void>;
  /** How many are not shown yet, and how many were given up at `sinceMs` or later, with nothing newer wanted. */
  standing(sinceMs: number): Promise<{ readonly waiting: number; readonly givenUp: number }>;
  find(id: string): Promise<CheckRunRecord | null>;
}
