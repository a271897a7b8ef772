import type { Tx } from '../tx.ts';

/** A person lets changes pass that plan policies deny, and says why. */
export interface Override {
  readonly id: string;
  readonly stackKey: string;
  /** Where they were denied. */
  readonly runId: string;
  /** See runs/changes-digest.ts: the same changes pass once more, nothing else does. */
  readonly changesDigest: string;
  /** See access/actor.ts `actorKey`. */
  readonly actorKey: string;
  readonly actorName: string;
  readonly reason: string;
  readonly atMs: number;
}

export interface OverrideStore {
  insert(tx: Tx, override: Override): Promise<void>;
  /** The newest of a stack for these changes. */
  find(stackKey: string, changesDigest: string, tx?: Tx): Promise<Override | null>;
  /** Of a stack for these changes, the oldest first. */
  ofChanges(stackKey: string, changesDigest: string): Promise<readonly Override[]>;
}
