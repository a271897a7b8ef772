import { expect, test } from 'vitest';
import { mendStanding } from '../../src/runs/mending.ts';
import type { Run } from '../../src/runs/run.ts';
import { aCommit } from '../support/builders.ts';

const trouble = { kind: 'state-locked', lockId: null, holder: null, sinceMs: null } as const;
const command = 'pulumi cancel --yes';

function aRun(change: Partial<Run>): Run {
  return {
    ...{ id: 'newer', stackKey: 'stack', type: 'TRACKED', state: 'FAILED', stateVersion: 6, branch: 'main' },
    ...{ commit: aCommit(), createdAtMs: 0, triggeredBy: 'ada', startedBy: 'person:ada' },
    ...{ restarts: 0, hadWorker: true, isRenewed: false, priority: 0 },
    ...change,
  };
}
const met = aRun({ id: 'met', trouble });
const task = (state: Run['state']) => aRun({ type: 'TASK', state, command });
const lock = (holderKey: string, kind: 'person' | 'system' = 'person') => ({
  ...{ holder: 'grace', holderKey, kind, reason: 'mine', run: null, sinceMs: 0 },
});

const possible = { kind: 'possible', command };
const past = { kind: 'past', run: 'newer' };
const underWay = { kind: 'under-way', run: 'newer' };
const locked = { kind: 'locked', command, holder: 'grace', reason: 'mine' };

test.each([
  { name: 'nothing came since', facts: {}, standing: possible },
  { name: 'the task ended badly', facts: { newer: [task('FAILED')] }, standing: possible },
  { name: 'a newer run was discarded', facts: { newer: [aRun({ state: 'DISCARDED' })] }, standing: possible },
  {
    name: 'another run waits for its turn',
    facts: { newer: [aRun({ state: 'QUEUED' })] },
    standing: possible,
  },
  { name: 'the task waits for its turn', facts: { newer: [task('QUEUED')] }, standing: underWay },
  { name: 'the task is performed', facts: { newer: [task('PERFORMING')] }, standing: underWay },
  {
    name: 'a plan waits to be confirmed',
    facts: { newer: [aRun({ state: 'UNCONFIRMED' })] },
    standing: underWay,
  },
  { name: 'the task is done', facts: { newer: [task('FINISHED')] }, standing: past },
  { name: 'a run went through', facts: { newer: [aRun({ state: 'FINISHED' })] }, standing: past },
  { name: 'a newer run met trouble', facts: { newer: [aRun({ trouble })] }, standing: past },
  { name: 'the tool has no command', facts: { command: null }, standing: { kind: 'unknown' } },
  {
    name: 'it is a preview',
    facts: { run: aRun({ type: 'PROPOSED', trouble }) },
    standing: { kind: 'preview' },
  },
  { name: 'somebody locked the stack', facts: { lock: lock('person:grace') }, standing: locked },
  { name: 'whoever asks locked the stack', facts: { lock: lock('person:ada') }, standing: possible },
  { name: 'the server locked the stack', facts: { lock: lock('', 'system') }, standing: locked },
])('$name: $standing.kind', ({ facts, standing }) => {
  const all = { run: met, newer: [], command, lock: null, who: 'person:ada', ...facts };
  expect(mendStanding(all)).toEqual(standing);
});
