import type { Tx } from '../tx.ts';

/**
 * What policies have noted about a run, for policies that judge it later. A flag is there as long as one policy holds
 * it. Reads without `tx` see committed data.
 */
export interface FlagStore {
  add(tx: Tx, runId: string, policyId: string, flags: readonly string[]): Promise<void>;
  /** Those that this policy holds; of others they stay. */
  reset(tx: Tx, runId: string, policyId: string, flags: readonly string[]): Promise<void>;
  /** Each once, in the order of their names. */
  of(runId: string, tx?: Tx): Promise<readonly string[]>;
}
