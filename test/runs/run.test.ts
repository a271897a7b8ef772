import { describe, expect, it } from 'vitest';
import {
  decide,
  isTerminal,
  type PlanFacts,
  type RunCommand,
  type RunState,
  type RunType,
  runStates,
} from '../../src/runs/run.ts';
import { fc } from '../support/fast-check.ts';

const types: readonly RunType[] = ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'];
const facts: PlanFacts = {
  hasChanges: true,
  hasWarnings: false,
  hasApprovalPolicies: false,
  autodeploy: false,
  stackLocked: false,
};
const planned = (change: Partial<PlanFacts> = {}): RunCommand => ({ kind: 'planned', ...facts, ...change });

/** docs/runs.md, "Transitions", one row a line. What is not here is refused. */
type Row = readonly [RunState, RunCommand['kind'], RunState, types?: readonly RunType[]];
const table: readonly Row[] = [
  ['QUEUED', 'make-ready', 'READY'],
  ['QUEUED', 'cancel', 'CANCELED'],
  ['READY', 'cancel', 'CANCELED'],
  ['QUEUED', 'withdraw', 'CANCELED', ['PROPOSED']],
  ['READY', 'withdraw', 'CANCELED', ['PROPOSED']],
  ['QUEUED', 'reject', 'FAILED'],
  ['READY', 'claim', 'PREPARING'],
  ['PREPARING', 'prepared', 'INITIALIZING'],
  ['PREPARING', 'fail', 'FAILED'],
  ['INITIALIZING', 'initialized', 'PLANNING', ['PROPOSED', 'TRACKED', 'DESTROY']],
  ['INITIALIZING', 'initialized', 'PERFORMING', ['TASK']],
  ['INITIALIZING', 'fail', 'FAILED'],
  ['PREPARING', 'stop', 'STOPPED'],
  ['INITIALIZING', 'stop', 'STOPPED'],
  ['PLANNING', 'stop', 'STOPPED'],
  ['PREPARING', 'withdraw', 'STOPPED', ['PROPOSED']],
  ['INITIALIZING', 'withdraw', 'STOPPED', ['PROPOSED']],
  ['PLANNING', 'withdraw', 'STOPPED', ['PROPOSED']],
  ['PENDING_REVIEW', 'withdraw', 'DISCARDED', ['PROPOSED']],
  ['PLANNING', 'fail', 'FAILED'],
  ['PLANNING', 'planned', 'FINISHED', ['PROPOSED']],
  ['PLANNING', 'planned', 'UNCONFIRMED', ['TRACKED', 'DESTROY']],
  ['PENDING_REVIEW', 'approve', 'FINISHED'],
  ['PENDING_REVIEW', 'reject', 'FAILED'],
  ['PENDING_REVIEW', 'discard', 'DISCARDED'],
  ['UNCONFIRMED', 'confirm', 'CONFIRMED'],
  ['UNCONFIRMED', 'discard', 'DISCARDED'],
  ['UNCONFIRMED', 'reject', 'FAILED'],
  ['CONFIRMED', 'claim', 'PREPARING_APPLY'],
  ['PREPARING_APPLY', 'prepared', 'APPLYING', ['TRACKED']],
  ['PREPARING_APPLY', 'prepared', 'DESTROYING', ['DESTROY']],
  ['PREPARING_APPLY', 'fail', 'FAILED'],
  ['APPLYING', 'finish', 'FINISHED'],
  ['DESTROYING', 'finish', 'FINISHED'],
  ['PERFORMING', 'finish', 'FINISHED'],
  ['APPLYING', 'fail', 'FAILED'],
  ['DESTROYING', 'fail', 'FAILED'],
  ['PERFORMING', 'fail', 'FAILED'],
  ['PREPARING', 'lose-worker', 'PREPARING'],
  ['INITIALIZING', 'lose-worker', 'PREPARING'],
  ['PLANNING', 'lose-worker', 'PREPARING'],
  ['PREPARING', 'hand-back', 'PREPARING'],
  ['INITIALIZING', 'hand-back', 'PREPARING'],
  ['PLANNING', 'hand-back', 'PREPARING'],
  ['QUEUED', 'abandon', 'CANCELED'],
  ['READY', 'abandon', 'CANCELED'],
  ['PREPARING', 'abandon', 'STOPPED'],
  ['INITIALIZING', 'abandon', 'STOPPED'],
  ['PLANNING', 'abandon', 'STOPPED'],
  ['PENDING_REVIEW', 'abandon', 'DISCARDED'],
  ['UNCONFIRMED', 'abandon', 'DISCARDED'],
  ['CONFIRMED', 'abandon', 'FAILED'],
  ['PREPARING_APPLY', 'lose-worker', 'FAILED'],
  ['APPLYING', 'lose-worker', 'FAILED'],
  ['DESTROYING', 'lose-worker', 'FAILED'],
  ['PERFORMING', 'lose-worker', 'FAILED'],
];

const commands: readonly RunCommand[] = [
  ...(
    [
      'make-ready',
      'claim',
      'prepared',
      'initialized',
      'finish',
      'fail',
      'lose-worker',
      'hand-back',
      'approve',
      'reject',
      'withdraw',
      'confirm',
      'discard',
      'cancel',
      'stop',
      'abandon',
    ] as const
  ).map((kind) => ({ kind })),
  planned(),
];

describe('every state with every command', () => {
  for (const type of types) {
    for (const state of runStates) {
      it(`a ${type} run in ${state} moves only as the table says`, () => {
        for (const command of commands) {
          const row = table.find(
            ([from, kind, , only]) =>
              from === state && kind === command.kind && (only ?? types).includes(type),
          );
          const decision = decide({ type, state, restarts: 0 }, command);

          expect([command.kind, decision.kind === 'move' ? decision.to : null]).toEqual([
            command.kind,
            row?.[2] ?? null,
          ]);
        }
      });
    }
  }

  it('uses every row of the table', () => {
    const reached = table.filter(([from, kind, to, only]) => {
      const command = commands.find((one) => one.kind === kind);
      const decision = command && decide({ type: only?.[0] ?? 'TRACKED', state: from, restarts: 0 }, command);
      return decision?.kind === 'move' && decision.to === to;
    });
    expect(reached).toHaveLength(table.length);
  });
});

describe('after the plan', () => {
  const after = (type: RunType, change: Partial<PlanFacts>) => {
    const decision = decide({ type, state: 'PLANNING', restarts: 0 }, planned(change));
    return decision.kind === 'move' ? decision.to : null;
  };

  it.each<[string, RunType, Partial<PlanFacts>, RunState]>([
    ['a tracked run without changes is finished', 'TRACKED', { hasChanges: false }, 'FINISHED'],
    ['a tracked run with autodeploy applies', 'TRACKED', { autodeploy: true }, 'APPLYING'],
    ['autodeploy stops at a warning', 'TRACKED', { autodeploy: true, hasWarnings: true }, 'UNCONFIRMED'],
    ['autodeploy stops at a lock', 'TRACKED', { autodeploy: true, stackLocked: true }, 'UNCONFIRMED'],
    ['without changes autodeploy finishes', 'TRACKED', { autodeploy: true, hasChanges: false }, 'FINISHED'],
    ['a tear-down never deploys by itself', 'DESTROY', { autodeploy: true }, 'UNCONFIRMED'],
    ['a tear-down of nothing is finished', 'DESTROY', { hasChanges: false }, 'FINISHED'],
    ['a preview waits only for a warning with reviewers', 'PROPOSED', { hasWarnings: true }, 'FINISHED'],
    [
      'a preview with a warning waits for its approval policies',
      'PROPOSED',
      { hasWarnings: true, hasApprovalPolicies: true },
      'PENDING_REVIEW',
    ],
  ])('%s', (_, type, change, expected) => {
    expect(after(type, change)).toBe(expected);
  });
});

describe('a lost worker', () => {
  it('starts the first half again twice, then fails the run', () => {
    const lose = (restarts: number) =>
      decide({ type: 'TRACKED', state: 'PLANNING', restarts }, { kind: 'lose-worker' });
    expect([0, 1, 2].map(lose)).toEqual([
      { kind: 'move', to: 'PREPARING', locksStack: false },
      { kind: 'move', to: 'PREPARING', locksStack: false },
      { kind: 'move', to: 'FAILED', locksStack: false },
    ]);
  });

  it('is not one that stops cleanly and hands its run back', () => {
    expect(decide({ type: 'TRACKED', state: 'PLANNING', restarts: 2 }, { kind: 'hand-back' })).toEqual({
      kind: 'move',
      to: 'PREPARING',
      locksStack: false,
    });
  });

  it('locks the stack when the world may have changed', () => {
    expect(decide({ type: 'TRACKED', state: 'APPLYING', restarts: 0 }, { kind: 'lose-worker' })).toEqual({
      kind: 'move',
      to: 'FAILED',
      locksStack: true,
    });
  });
});

it('never leaves a terminal state, and never applies without a confirmation unless autodeployed', () => {
  const command = fc.oneof(
    fc.constantFrom(...commands),
    fc
      .record({
        hasChanges: fc.boolean(),
        hasWarnings: fc.boolean(),
        hasApprovalPolicies: fc.boolean(),
        autodeploy: fc.constant(false),
        stackLocked: fc.boolean(),
      })
      .map((change) => planned(change)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.array(command, { maxLength: 40 }), (type, sequence) => {
      let state: RunState = 'QUEUED';
      let confirmed = false;
      for (const one of sequence) {
        const decision = decide({ type, state, restarts: 0 }, one);
        if (decision.kind !== 'move') continue;
        expect(isTerminal(state)).toBe(false);
        confirmed ||= decision.to === 'CONFIRMED';
        state = decision.to;
        if (state === 'APPLYING' || state === 'DESTROYING') expect(confirmed).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});
