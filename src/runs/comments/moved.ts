import type { CommandResult } from '../commands.ts';
import type { Outcome } from '../conversation.ts';
import type { Run } from '../run.ts';
import { type Reference, refused } from './act.ts';

/** What is told of a run whose state was to be changed. */
export function moved(result: CommandResult, run: Run, reference: Reference): Outcome {
  if (result.kind === 'done') return { kind: 'moved', run: reference(result.run) };
  const { state, stateVersion } = result;
  return refused({ code: 'wrong-state', run: reference({ ...run, state, stateVersion }) });
}
