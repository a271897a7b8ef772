import type { Outcome, Run } from '../../src/runs/run.ts';
import type { Stack } from '../../src/stacks/stack.ts';
import { type Installation, untilUnconfirmed } from './installation.ts';

export const changesDigest = '0d1e'.repeat(16);

/** A run that ended while its plan was judged. */
export async function addJudgedRun(
  { addRun, move, database, transitions, runs }: Installation,
  stack: Stack,
  { outcome = 'policy_denied', note = 'a is deleted' }: { outcome?: Outcome; note?: string } = {},
): Promise<Run> {
  const planning = await move(await addRun(stack), ...untilUnconfirmed.slice(0, 3));
  const delta = { added: 1, changed: 0, deleted: 1, resources: 2 };
  const change = { outcome, changesDigest, delta };
  await database.write((tx) =>
    transitions.move(tx, planning, { kind: 'fail' }, { actor: 'worker', note, change }),
  );
  const failed = await runs.find(planning.id);
  if (failed?.state !== 'FAILED') throw new Error('the run should have failed');
  return failed;
}
