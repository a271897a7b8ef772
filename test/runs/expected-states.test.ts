import { expect, test } from 'vitest';
import { expectedStates } from '../../src/runs/expected-states.ts';
import type { RunState, RunType } from '../../src/runs/run.ts';

const first: readonly RunState[] = ['READY', 'PREPARING', 'INITIALIZING'];
const waits = { autodeploy: false, isLocked: false };
const deploys = { autodeploy: true, isLocked: false };

test.each<[RunType, RunState, typeof waits, readonly RunState[]]>([
  ['PROPOSED', 'QUEUED', waits, [...first, 'PLANNING', 'FINISHED']],
  [
    'TRACKED',
    'QUEUED',
    waits,
    [...first, 'PLANNING', 'UNCONFIRMED', 'CONFIRMED', 'PREPARING_APPLY', 'APPLYING', 'FINISHED'],
  ],
  ['TRACKED', 'INITIALIZING', deploys, ['PLANNING', 'APPLYING', 'FINISHED']],
  [
    'TRACKED',
    'PLANNING',
    { autodeploy: true, isLocked: true },
    ['UNCONFIRMED', 'CONFIRMED', 'PREPARING_APPLY', 'APPLYING', 'FINISHED'],
  ],
  ['DESTROY', 'UNCONFIRMED', deploys, ['CONFIRMED', 'PREPARING_APPLY', 'DESTROYING', 'FINISHED']],
  ['TASK', 'READY', waits, ['PREPARING', 'INITIALIZING', 'PERFORMING', 'FINISHED']],
  ['PROPOSED', 'PENDING_REVIEW', waits, ['FINISHED']],
  ['TRACKED', 'FAILED', waits, []],
])('%s in %s, with %j', (type, state, prospect, expected) => {
  expect(expectedStates({ type, state }, prospect)).toEqual(expected);
});

test.each(['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] as const)(
  'what is expected of %s ends well and does not change on the way',
  (type) => {
    const way = ['QUEUED' as const, ...expectedStates({ type, state: 'QUEUED' }, waits)];

    expect(way.at(-1)).toBe('FINISHED');
    for (const [index, state] of way.entries()) {
      expect(expectedStates({ type, state }, waits)).toEqual(way.slice(index + 1));
    }
  },
);
