import type { Run, RunType } from '../../src/runs/run.ts';
import type { Stack } from '../../src/stacks/stack.ts';
import type { ToolTrouble } from '../../src/stacks/vendor-settings.ts';
import { type Installation, untilUnconfirmed } from './installation.ts';

export const heldLock: ToolTrouble = {
  kind: 'state-locked',
  lockId: null,
  holder: 'ada@host, process 17',
  sinceMs: 1_794_000_000_000,
};

/** A run that ended because of what it found the state to be in. */
export async function addTroubledRun(
  { addRun, move, database, transitions, runs, scheduler }: Installation,
  stack: Stack,
  { trouble = heldLock, type = 'TRACKED' }: { trouble?: ToolTrouble; type?: RunType } = {},
): Promise<Run> {
  const planning = await move(await addRun(stack, type), ...untilUnconfirmed.slice(0, 3));
  const outcome = trouble.kind === 'state-locked' ? 'state_locked' : 'pending_operations';
  const by = { actor: 'worker', note: 'The state is locked.', change: { outcome, trouble } } as const;
  await database.write((tx) => transitions.move(tx, planning, { kind: 'fail' }, by));
  await scheduler.settled();
  const failed = await runs.find(planning.id);
  if (failed?.state !== 'FAILED') throw new Error('the run should have failed');
  return failed;
}
