import { expect, test } from 'vitest';
import { type ExplainedRun, explain } from '../../src/runs/explanation.ts';
import { type RunState, type RunType, runStates } from '../../src/runs/run.ts';
import { aCommit } from '../support/builders.ts';

type Change = Partial<Omit<ExplainedRun, 'run' | 'stack'>> & {
  readonly run?: Partial<ExplainedRun['run']>;
  readonly lock?: ExplainedRun['stack']['lock'];
};

function facts(type: RunType, state: RunState, { run, lock = null, ...rest }: Change = {}): ExplainedRun {
  return {
    run: { id: '01J', type, state, triggeredBy: 'ada', commit: aCommit(), ...run },
    stack: { account: 'acme', id: 'network', name: "Ada's", autodeploy: false, planBinding: true, lock },
    ...{ blocker: null, trouble: null, mend: null, actor: 'grace', cameFrom: null },
    ...rest,
  };
}

const commands = (given: ExplainedRun) => explain(given).next.map(({ command }) => command);
const logs = 'slipway run logs 01J';
const retry = 'slipway run retry 01J';
const mend = 'slipway run mend 01J';
const unlock = 'slipway stack unlock acme/network';
const locked = { kind: 'state-locked', lockId: null, holder: 'ada@host', sinceMs: null } as const;
const troubled = (standing: ExplainedRun['mend'], change: Change = {}) =>
  facts('TRACKED', 'FAILED', {
    run: { outcome: 'state_locked' },
    trouble: locked,
    mend: standing,
    ...change,
  });

test.each<[string, ExplainedRun, readonly (string | undefined)[]]>([
  ['a run that went through', facts('TRACKED', 'FINISHED'), []],
  ['a run that is applied', facts('TRACKED', 'APPLYING'), []],
  [
    'a plan that waits',
    facts('TRACKED', 'UNCONFIRMED'),
    ['slipway run confirm 01J', 'slipway run discard 01J'],
  ],
  [
    'a tear-down that waits',
    facts('DESTROY', 'UNCONFIRMED'),
    [`slipway run confirm 01J --confirmation 'Ada'\\''s'`, 'slipway run discard 01J'],
  ],
  [
    'a run behind another',
    facts('TRACKED', 'QUEUED', { blocker: { kind: 'run', run: '01H', state: 'PLANNING' } }),
    ['slipway run explain 01H', 'slipway run prioritize 01J', 'slipway run cancel 01J'],
  ],
  [
    'a run behind a lock',
    facts('TRACKED', 'QUEUED', { blocker: { kind: 'lock', holder: 'grace', reason: 'mine' } }),
    [unlock, 'slipway run cancel 01J'],
  ],
  [
    'a run that waits for approval',
    facts('TRACKED', 'QUEUED', { blocker: { kind: 'approval', reason: 'two are missing' } }),
    [undefined, 'slipway run approve 01J', 'slipway run reject 01J', 'slipway run cancel 01J'],
  ],
  [
    'a run whose repository is away',
    facts('TRACKED', 'QUEUED', { blocker: { kind: 'repository', reason: 'the App was removed' } }),
    [undefined, 'slipway run cancel 01J'],
  ],
  ['a run that failed', facts('TRACKED', 'FAILED', { run: { outcome: 'tool_failed' } }), [logs, retry]],
  [
    'a run that policies denied',
    facts('TRACKED', 'FAILED', { run: { outcome: 'policy_denied' } }),
    [logs, "slipway run override 01J --reason '...'", retry],
  ],
  [
    'a lost apply',
    facts('TRACKED', 'FAILED', {
      run: { outcome: 'worker_lost' },
      cameFrom: 'APPLYING',
      lock: { holder: 'slipway', reason: 'A worker was lost', run: '01J' },
    }),
    [logs, unlock, retry],
  ],
  [
    'a lost apply whose stack was unlocked since',
    facts('TRACKED', 'FAILED', { run: { outcome: 'worker_lost' }, cameFrom: 'APPLYING' }),
    [logs, retry],
  ],
  ['a trouble', troubled({ kind: 'possible', command: 'x' }), [logs, mend, retry]],
  [
    'a trouble of a locked stack',
    troubled({ kind: 'locked', command: 'x', holder: 'grace', reason: '' }),
    [logs, unlock, mend, retry],
  ],
  [
    'a trouble that is being mended',
    troubled({ kind: 'under-way', run: '01K' }),
    [logs, 'slipway run explain 01K', retry],
  ],
  [
    'a trouble that is past',
    troubled({ kind: 'past', run: '01K' }),
    [logs, 'slipway run explain 01K', retry],
  ],
  ['a trouble of a preview', troubled({ kind: 'preview' }), [logs, undefined, retry]],
  ['a trouble that no command mends', troubled({ kind: 'unknown' }), [logs, retry]],
])('of %s is said what to do next', (_name, given, expected) => {
  expect(commands(given)).toEqual(expected);
});

test('what is mended, and what has to be seen to before, is said of each trouble', () => {
  const operations = [{ op: 'creating', urn: 'urn' }];
  const pending = { kind: 'pending-operations', operations } as const;
  const possible = { kind: 'possible', command: 'x' } as const;
  const said = [locked, pending].map(
    (trouble) => explain(troubled(possible, { trouble })).next.find(({ action }) => action === 'mend')?.text,
  );

  expect(said[0]).toMatch(/releases the lock of the state that ada@host holds\. Be sure that nobody/);
  expect(said[1]).toMatch(/takes the creations .* out of the state .* See first whether the resources exist/);
});

test('there are words for every type and state, in whole sentences', () => {
  for (const type of ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] as const) {
    for (const state of runStates) {
      for (const step of explain(facts(type, state)).next) {
        expect(step.text).toMatch(/^[A-Z].*\.$/s);
        expect(step.text).not.toMatch(/undefined|null/);
      }
    }
  }
});
