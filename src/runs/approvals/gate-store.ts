import type { Tx } from '../../tx.ts';
import type { RunGate } from './gate.ts';

/** Where it is kept what approval policies said last: one for each run, gone with it. */
export interface GateStore {
  find(runId: string, tx?: Tx): Promise<RunGate | null>;
  /** Takes the place of what they said before. */
  save(tx: Tx, gate: RunGate): Promise<void>;
  /** It is not known any more what they say. */
  clear(tx: Tx, runId: string): Promise<void>;
}
