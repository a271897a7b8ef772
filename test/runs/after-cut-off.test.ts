import { describe, expect, test } from 'vitest';
import { type PastRun, verdictOf } from '../../src/runs/after-cut-off.ts';
import type { Outcome, RunState, RunType } from '../../src/runs/run.ts';

const delta = { added: 1, changed: 0, deleted: 0, resources: 1 };
const toPlan: RunState[] = ['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING'];
const toApply: RunState[] = [...toPlan, 'APPLYING'];
const toTask: RunState[] = ['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PERFORMING'];

interface Told {
  readonly type?: RunType;
  readonly state?: RunState;
  readonly outcome?: Outcome;
  readonly passed: readonly RunState[];
  readonly exitCodes?: readonly (number | null)[];
}

function past({ type = 'TRACKED', state = 'FAILED', outcome, passed, exitCodes = [] }: Told): PastRun {
  const isPlanned = passed !== toPlan && type !== 'TASK';
  return {
    run: { type, state, ...(outcome ? { outcome } : {}), ...(isPlanned ? { delta } : {}) },
    passed: [...passed, state],
    exitCodes,
  };
}

describe('what a run tells of the state that it left', () => {
  test.each<Told & { is: string }>([
    { is: 'sound', state: 'FINISHED', passed: toApply },
    { is: 'sound', type: 'DESTROY', state: 'FINISHED', passed: [...toPlan, 'DESTROYING'] },
    { is: 'sound', state: 'DISCARDED', passed: [...toPlan, 'UNCONFIRMED'] },
    { is: 'sound', outcome: 'tool_failed', passed: toApply, exitCodes: [0, 1] },
    { is: 'sound', outcome: 'plan_changed', passed: toApply, exitCodes: [1] },
    { is: 'sound', outcome: 'state_locked', passed: toApply, exitCodes: [1] },
    { is: 'cut-off', outcome: 'worker_lost', passed: toApply },
    {
      is: 'cut-off',
      outcome: 'worker_lost',
      passed: [...toPlan, 'UNCONFIRMED', 'CONFIRMED', 'PREPARING_APPLY'],
    },
    { is: 'cut-off', outcome: 'internal_error', passed: toApply },
    { is: 'cut-off', outcome: 'timeout', passed: toApply },
    { is: 'cut-off', outcome: 'output_limit', passed: toApply },
    { is: 'cut-off', outcome: 'disk_limit', passed: toApply },
    { is: 'cut-off', outcome: 'out_of_memory', type: 'DESTROY', passed: [...toPlan, 'DESTROYING'] },
    { is: 'cut-off', outcome: 'tool_failed', passed: toApply, exitCodes: [137] },
    { is: 'cut-off', outcome: 'tool_failed', passed: toApply, exitCodes: [null] },
    { is: 'cut-off', outcome: 'worker_lost', type: 'TASK', passed: toTask },
    { is: 'cut-off', outcome: 'tool_failed', type: 'TASK', passed: toTask, exitCodes: [137] },
    { is: 'nothing', outcome: 'tool_failed', type: 'TASK', passed: toTask, exitCodes: [1] },
    { is: 'nothing', type: 'TASK', state: 'FINISHED', passed: toTask },
    { is: 'nothing', outcome: 'worker_lost', passed: toPlan },
    { is: 'nothing', outcome: 'timeout', passed: toPlan, exitCodes: [] },
    { is: 'nothing', outcome: 'pending_operations', passed: toPlan },
    { is: 'nothing', state: 'CANCELED', outcome: 'superseded', passed: ['QUEUED'] },
    { is: 'nothing', state: 'APPLYING', passed: toApply },
  ])('$is: $type $state $outcome after $passed, exits $exitCodes', ({ is, ...told }) => {
    const shown =
      told.passed.length === 1
        ? { ...past(told), run: { type: 'TRACKED' as const, state: told.state ?? 'FAILED' } }
        : past(told);
    expect(verdictOf(shown)).toBe(is);
  });
});
