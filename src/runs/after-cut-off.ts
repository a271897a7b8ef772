import { changesTheWorld, isTerminal, type Outcome, type Run, type RunState } from './run.ts';

/**
 * Whether the state of a stack has to be looked at before the next plan, because a run was ended in the middle of
 * what it changed and no run has planned since. Pure.
 */

/** A run of the stack that was serialised with others and is over. */
export interface PastRun {
  readonly run: Pick<Run, 'type' | 'state' | 'outcome' | 'delta'>;
  readonly passed: readonly RunState[];
  /** Of the commands of its changing half; null: killed. */
  readonly exitCodes: readonly (number | null)[];
}

/** What a past run tells. `sound`: a plan was made of the state, so it had been looked at where that was due. */
export type Verdict = 'cut-off' | 'sound' | 'nothing';

export function verdictOf({ run, passed, exitCodes }: PastRun): Verdict {
  if (!isTerminal(run.state)) return 'nothing';
  const hadBegun = passed.some((state) => changesTheWorld.has(state));
  if (hadBegun && run.state === 'FAILED' && wasCutOff(run.outcome, exitCodes)) return 'cut-off';
  // What a task did to the state nobody knows.
  return run.type !== 'TASK' && run.delta !== undefined ? 'sound' : 'nothing';
}

const endsInTheMiddle: ReadonlySet<Outcome> = new Set([
  'worker_lost',
  'timeout',
  'output_limit',
  'out_of_memory',
  'process_limit',
  'disk_limit',
  'internal_error',
]);

/** By Slipway or with it; or by something in the run, of which a shell says 128 and the number of the signal. */
function wasCutOff(outcome: Outcome | undefined, exitCodes: readonly (number | null)[]): boolean {
  if (outcome !== undefined && endsInTheMiddle.has(outcome)) return true;
  return exitCodes.some((code) => code === null || (code > 128 && code <= 128 + 64));
}
