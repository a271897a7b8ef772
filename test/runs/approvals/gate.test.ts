import { describe, expect, it } from 'vitest';
import { judgedBy, type RunGate, standingOf } from '../../../src/runs/approvals/gate.ts';
import { runStates } from '../../../src/runs/run.ts';

const guards = ['p1 1', 'p2 4'];
const at = { state: 'UNCONFIRMED', stateVersion: 6 } as const;
const approved: RunGate = {
  ...{ runId: 'r1', stateVersion: 6, outcome: 'approved', judged: judgedBy(guards) },
  ...{ note: 'approved by ann', atMs: 0 },
};
const notYet = { kind: 'shut', isUnjudged: true };

describe('the gate', () => {
  it.each<[string, readonly string[], RunGate | null, object]>([
    ['nothing guards it', [], null, { kind: 'open', isGuarded: false }],
    ['they approved', guards, approved, { kind: 'open', isGuarded: true }],
    ['they approved, named in another order', guards.toReversed(), approved, { kind: 'open' }],
    ['they have said nothing', guards, null, notYet],
    ['they approved another state', guards, { ...approved, stateVersion: 5 }, notYet],
    ['one of them was changed', ['p1 2', 'p2 4'], approved, notYet],
    ['there is one more', [...guards, 'p3 1'], approved, notYet],
    ['there is one less', ['p1 1'], approved, notYet],
    [
      'they are undecided',
      guards,
      { ...approved, outcome: 'undecided', note: 'two-people has not approved it' },
      { kind: 'shut', isUnjudged: false, reason: 'two-people has not approved it' },
    ],
    ['they failed', guards, { ...approved, outcome: 'failed', note: null }, { kind: 'shut' }],
    ['they rejected', guards, { ...approved, outcome: 'rejected' }, { kind: 'shut' }],
  ])('when %s', (_, guardedBy, gate, standing) => {
    expect(standingOf(at, guardedBy, gate)).toMatchObject(standing);
  });

  it('guards the states in which a run waits, and no others', () => {
    const shut = runStates.filter((state) => standingOf({ ...at, state }, guards, null).kind === 'shut');
    expect(shut).toEqual(['QUEUED', 'PENDING_REVIEW', 'UNCONFIRMED']);
  });
});
