import type { Tx } from '../tx.ts';
import type { Judgement, RecordedDecision } from './judgement.ts';
import type { Policy, PolicyKind } from './policy.ts';

/** Where policies live. Reads see committed data; methods with `tx` see the transaction. */
export interface PolicyStore {
  find(id: string, tx?: Tx): Promise<Policy | null>;
  /** Of one account or of all, by id; `after` leaves out what comes up to that id. */
  list(filter: PolicyFilter): Promise<readonly Policy[]>;
  /**
   * Those of a kind that judge a stack, in the order of their names: attached to it, or by label; of NOTIFICATION all of
   * its account.
   */
  ofStack(stackKey: string, kind: PolicyKind, tx?: Tx): Promise<readonly Policy[]>;
  /** Those of a kind that judge all of an account (NOTIFICATION), or all of the instance (LOGIN: null). */
  ofAccount(accountId: number | null, kind: PolicyKind, tx?: Tx): Promise<readonly Policy[]>;
  /** 'name-taken' when the account has one of that name. */
  insert(tx: Tx, policy: Policy): Promise<'inserted' | 'name-taken'>;
  /**
   * A body with another digest becomes the next version, whatever `policy` says of it. 'changed-since' when `wasVersion`
   * is not the one that is there, or the policy is gone. Account, kind and time of creation stay.
   */
  update(tx: Tx, policy: Policy, wasVersion: number): Promise<'updated' | 'changed-since' | 'name-taken'>;
  /** With its versions, attachments and samples; its decisions stay. */
  delete(tx: Tx, id: string): Promise<boolean>;
  /** The newest first. */
  versions(id: string): Promise<readonly PolicyVersion[]>;
  attach(tx: Tx, id: string, stackKey: string): Promise<void>;
  detach(tx: Tx, id: string, stackKey: string): Promise<boolean>;
  /** Keys of the stacks that it is attached to directly. */
  attachedTo(id: string, tx?: Tx): Promise<readonly string[]>;
  /** Keys of the stacks that it judges, by label or directly; of NOTIFICATION all of its account. */
  stacksOf(id: string, tx?: Tx): Promise<readonly string[]>;
}

export interface PolicyFilter {
  /** Logins, in lower case; null: all accounts and the instance. */
  readonly account: string | null;
  readonly kind?: PolicyKind;
  readonly after: string | null;
  readonly limit: number;
}

export interface PolicyVersion extends Pick<Policy, 'version' | 'body' | 'regoVersion' | 'rules' | 'digest'> {
  readonly createdAtMs: number;
  readonly createdBy: string;
}

/** What a judgement was about, for the record. */
export interface JudgementSubject {
  readonly accountId: number | null;
  readonly stackKey: string | null;
  readonly runId: string | null;
  readonly subject: string;
}

/** What policies have said. Kept as long as the run, without one as long as the audit log; never longer than the stack. */
export interface DecisionStore {
  /** Makes the JSON text of an input small: work for outside of any transaction. */
  packSample(input: Uint8Array): Promise<PackedSample>;
  /** The input is kept, sealed, where the judgement asks for a sample and `input` is not null. */
  record(
    tx: Tx,
    judgement: Judgement,
    about: JudgementSubject,
    input: PackedSample | null,
  ): Promise<RecordedDecision>;
  /** Of a run, in the order in which they were made. */
  ofRun(runId: string): Promise<readonly RecordedDecision[]>;
  /** The newest first. */
  list(filter: {
    readonly policyId?: string;
    readonly stackKey?: string;
    readonly before: string | null;
    readonly limit: number;
  }): Promise<readonly RecordedDecision[]>;
  /** For retention: of no run, at most `limit` of them. */
  deleteBefore(tx: Tx, atMs: number, limit: number): Promise<number>;
}

/** As the store keeps it, but for the sealing. */
export interface PackedSample {
  readonly packed: Uint8Array;
}

/** The newest samples of an account: at most 100 of it, and none older than 7 days. */
export interface SampleStore {
  find(id: string): Promise<Sample | null>;
  /** The newest first. */
  list(policyId: string): Promise<readonly Sample[]>;
  /** The JSON text. */
  input(id: string): Promise<string | null>;
  /** For retention. */
  deleteBefore(tx: Tx, atMs: number): Promise<number>;
}

export interface Sample {
  /** That of the decision. */
  readonly id: string;
  readonly policyId: string;
  readonly policyVersion: number;
  readonly kind: PolicyKind;
  readonly subject: string;
  readonly outcome: string;
  readonly stackKey: string | null;
  readonly runId: string | null;
  readonly atMs: number;
}
