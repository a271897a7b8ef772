import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';

/** A TRACKED run that nobody asked for, and that a person may want. */
export interface Offer {
  readonly stack: Stack;
  readonly commit: Commit;
  /** Why the stack is concerned. */
  readonly reason: string;
}

/** Shows offers where people work, on their commit. Implemented in github/feedback. Writes rows only. */
export interface Offers {
  offer(tx: Tx, offer: Offer): Promise<void>;
}
