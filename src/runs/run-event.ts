import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { Run } from './run.ts';

/** One change of a run's state, as everybody who must do something about it sees it. */
export interface RunEvent {
  /** After the change; `state` and `stateVersion` are those of the event. */
  readonly run: Run;
  readonly stack: Stack;
  readonly timestampMs: number;
  /** A login, a token's name, "worker" or "server". */
  readonly actor: string;
  readonly note: string | null;
}

/**
 * Called inside the transaction that changed the state. A reactor only writes rows: nothing is sent from
 * here, and nothing is sent later that was not written here. A rejection undoes the change.
 */
export type Reactor = (tx: Tx, event: RunEvent) => Promise<void>;
