import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';

/** Which approval policies guard the runs of a stack. Implemented by policies. */
export interface Guards {
  /** "id version" of each, in a fixed order; empty when nobody has to approve anything. */
  guardsOf(tx: Tx, stack: Stack): Promise<readonly string[]>;
}
