import type { Run } from '../../src/runs/run.ts';
import type { StoredPlan } from '../../src/runs/run-store.ts';
import type { Installation } from './installation.ts';

/** As the worker reports it, without any change of the run's state. */
export async function savePlan(
  { runs, database }: Installation,
  run: Run,
  plan: Pick<StoredPlan, 'steps' | 'marks'>,
): Promise<void> {
  const sealed = await runs.sealPlan(run.id, { hasChanges: true, ...plan, file: null });
  await database.write((tx) => runs.savePlan(tx, sealed));
}
