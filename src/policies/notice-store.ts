import type { Tx } from '../tx.ts';

export const severities = ['INFO', 'WARNING', 'ERROR'] as const;
export type Severity = (typeof severities)[number];

/** A message to the people of an account: what a notification policy wants to be known, or what went wrong with policies. */
export interface Notice {
  readonly id: string;
  readonly accountId: number;
  /** Null: it concerns the whole account. */
  readonly stackKey: string | null;
  readonly runId: string | null;
  /** Null when no policy wrote it. */
  readonly policyId: string | null;
  readonly severity: Severity;
  readonly title: string;
  readonly body: string;
  readonly atMs: number;
}

export interface ListedNotice extends Notice {
  /** Login. */
  readonly account: string;
}

export interface NoticeFilter {
  /** Login; null: all accounts. Upper and lower case are the same. */
  readonly account: string | null;
  readonly stackKey?: string;
  readonly severity?: Severity;
  /** Those before that one. */
  readonly before: string | null;
  readonly limit: number;
}

/** Where notices live: as long as their run, those of no run as long as the audit log. */
export interface NoticeStore {
  insert(tx: Tx, notice: Notice): Promise<void>;
  /** Whether there is one with that title of the policy about the run. */
  isTold(tx: Tx, which: { runId: string; policyId: string; title: string }): Promise<boolean>;
  /** The newest first. */
  list(filter: NoticeFilter): Promise<readonly ListedNotice[]>;
  /** At most `limit` of those of no run before that time; how many there were. */
  removeBefore(tx: Tx, beforeMs: number, limit: number): Promise<number>;
}
