import type { Tx } from '../../tx.ts';
import type { Run } from '../run.ts';
import type { Review } from './review.ts';

/** Where reviews live; they go with their run. */
export interface ReviewStore {
  insert(tx: Tx, review: Review): Promise<void>;
  /** Oldest first. */
  ofRun(runId: string, tx?: Tx): Promise<readonly Review[]>;
  /** Those that earlier runs of the stack got for the same changes, oldest first. None before there is a plan. */
  ofSameChanges(run: Pick<Run, 'id' | 'stackKey' | 'changesDigest'>, tx?: Tx): Promise<readonly Review[]>;
}
