/**
 * The state changes of all runs in the order in which they were committed, as the bytes that webhooks send:
 * a receiver that was down catches up here. Implemented by storage, read by the API.
 */
export interface EventFeed {
  /**
   * Entries with a `seq` above `after`, ascending, at most `limit`; `account` null = all accounts, else those
   * of stacks of the account with that login (in any case). An entry never appears later with a smaller `seq`
   * than one that was read before.
   */
  read(options: {
    readonly after: number;
    readonly account: string | null;
    readonly limit: number;
  }): Promise<readonly FeedEntry[]>;
  /** `seq` of the newest entry that was removed for its age; 0 when none was. */
  removedUpTo(): Promise<number>;
}

export interface FeedEntry {
  /** Positive, ascending over all runs. */
  readonly seq: number;
  readonly stackKey: string;
  /** The webhook body of the change (specification §2.2): UTF-8 JSON. */
  readonly payload: Uint8Array;
}
