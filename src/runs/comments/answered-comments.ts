import type { Tx } from '../../tx.ts';

/** Which comments were answered: a comment acts once, however often it is told. By GitHub's id of the comment. */
export interface AnsweredComments {
  has(commentId: number, tx?: Tx): Promise<boolean>;
  add(tx: Tx, commentId: number, atMs: number): Promise<void>;
  /** Those answered before that time. */
  removeOld(tx: Tx, beforeMs: number): Promise<void>;
}
