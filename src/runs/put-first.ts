import type { Tx } from '../tx.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/** In front of what else waits in its stack. The run waits itself. */
export async function putFirst(
  runs: Pick<RunStore, 'firstQueued' | 'setPriority'>,
  tx: Tx,
  run: Run,
): Promise<Run> {
  const first = await runs.firstQueued(run.stackKey, null, tx);
  if (!first || first.id === run.id) return run;
  const priority = first.priority + 1;
  await runs.setPriority(tx, run.id, priority);
  return { ...run, priority };
}
