import type { Run } from '../../src/runs/run.ts';
import type { Database } from '../../src/storage/database.ts';
import { createRunList } from '../../src/storage/run-list.ts';

/** The runs of a stack, newest first, as lists show them. */
export async function runsOfStack(database: Database, stackKey: string): Promise<readonly Run[]> {
  const everything = { before: null, limit: 1000 };
  return (await createRunList(database).page({ stackKeys: [stackKey] }, everything)).runs;
}
