import type { Tx } from '../../tx.ts';

/**
 * Which approval policies guard the runs of a stack. Implemented by policies: here nothing is known of them but that
 * others, or another version, have to judge anew.
 */
export interface Guards {
  /** "id version" of each; empty when nobody has to approve anything. */
  guardsOf(stackKey: string, tx?: Tx): Promise<readonly string[]>;
}
