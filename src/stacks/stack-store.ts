import type { Tx } from '../tx.ts';
import type { EnvironmentVariable } from './environment.ts';
import type { ManagedBy, Stack, StackLock, StackSettings } from './stack.ts';

export interface NewStack {
  readonly key: string;
  readonly id: string;
  readonly accountId: number;
  readonly repositoryId: number;
  readonly settings: StackSettings;
  /** Left out: null. */
  readonly managedBy?: ManagedBy | null;
  readonly createdAtMs: number;
}

/** Where stacks and their environment live. Reads see committed data; methods with `tx` see the transaction. */
export interface StackStore {
  find(account: string, id: string): Promise<Stack | null>;
  findByKey(key: string, tx?: Tx): Promise<Stack | null>;
  /** In no order; those that are there. */
  findAll(keys: readonly string[]): Promise<readonly Stack[]>;
  /** By id. `account`: a login; upper and lower case are the same. */
  ofAccount(account: string): Promise<readonly Stack[]>;
  findInAccount(accountId: number, id: string, tx?: Tx): Promise<Stack | null>;
  /** The vendors that stacks use. */
  vendorNames(): Promise<readonly string[]>;
  /** Ids of the repositories that have stacks. */
  repositoryIds(): Promise<ReadonlySet<number>>;
  ofRepository(repositoryId: number, tx?: Tx): Promise<readonly Stack[]>;

  /** 'exists' when the account has a stack with that id. */
  insert(tx: Tx, stack: NewStack): Promise<'inserted' | 'exists'>;
  updateSettings(tx: Tx, key: string, settings: StackSettings): Promise<void>;
  /** Removes the stack with its runs, webhooks and environment. */
  remove(tx: Tx, key: string): Promise<void>;
  setManagedBy(tx: Tx, key: string, managedBy: ManagedBy | null): Promise<void>;
  setLock(tx: Tx, key: string, lock: StackLock | null): Promise<void>;

  /** Decrypted, by name. */
  environment(key: string, tx?: Tx): Promise<readonly EnvironmentVariable[]>;
  putVariable(tx: Tx, key: string, variable: EnvironmentVariable): Promise<void>;
  /** False when there was none. */
  removeVariable(tx: Tx, key: string, name: string): Promise<boolean>;
}
