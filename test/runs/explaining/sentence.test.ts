import { expect, test } from 'vitest';
import { type RunStanding, runSentence } from '../../../src/runs/explaining/sentence.ts';
import { type RunState, type RunType, runStates } from '../../../src/runs/run.ts';

type Told = Partial<RunStanding['run']> & { autodeploy?: boolean; actor?: string; cameFrom?: RunState };
const delta = { added: 3, changed: 2, deleted: 1, resources: 9 };
const one = { added: 1, changed: 0, deleted: 0, resources: 1 };
const none = { added: 0, changed: 0, deleted: 0, resources: 4 };
const busy = { kind: 'run', run: '01J', state: 'PLANNING' } as const;
const shut = { kind: 'approval', reason: 'two have to approve' } as const;

function sentence(type: RunType, state: RunState, told: Told = {}): string {
  const { autodeploy = false, actor = 'grace', cameFrom = null, ...run } = told;
  return runSentence({ run: { type, state, triggeredBy: 'ada', ...run }, autodeploy, actor, cameFrom });
}

test.each<[RunType, RunState, Told, string]>([
  ['TRACKED', 'QUEUED', {}, 'It is next in line and starts by itself.'],
  ['TRACKED', 'QUEUED', { blockedBy: busy }, 'It starts by itself as soon as nothing keeps it back.'],
  ['PROPOSED', 'READY', {}, 'It starts by itself as soon as a worker is free.'],
  [
    'PROPOSED',
    'PREPARING',
    {},
    'A worker fetches the source and makes the sandbox. The preview follows; nothing is changed by it.',
  ],
  ['TASK', 'INITIALIZING', {}, 'The tool is set up and hooks run. The command follows.'],
  ['PROPOSED', 'PLANNING', {}, 'The tool works out what would change. Nothing is changed by that.'],
  [
    'TRACKED',
    'PLANNING',
    {},
    'The tool works out what would change. Changes then wait until somebody confirms them.',
  ],
  [
    'TRACKED',
    'PLANNING',
    { autodeploy: true },
    'The tool works out what would change. Changes are applied at once after that: the stack has autodeploy.',
  ],
  [
    'DESTROY',
    'PLANNING',
    { autodeploy: true },
    'The tool works out what would change. Nothing is destroyed until somebody confirms it.',
  ],
  ['PROPOSED', 'PENDING_REVIEW', {}, 'The preview has warnings and ends once somebody has reviewed it.'],
  [
    'PROPOSED',
    'PENDING_REVIEW',
    { blockedBy: shut },
    'Policies warn of the preview. It ends once people have approved or rejected it.',
  ],
  [
    'TRACKED',
    'QUEUED',
    { blockedBy: shut },
    'It starts by itself once the approval policies of the stack let it.',
  ],
  [
    'TRACKED',
    'UNCONFIRMED',
    { delta: one, blockedBy: shut },
    'The plan of ada adds 1 resource. It has to be approved first; nothing is applied until somebody confirms it then.',
  ],
  [
    'DESTROY',
    'UNCONFIRMED',
    { delta: one, blockedBy: shut },
    'The tear-down that ada asked for adds 1 resource. It has to be approved first; nothing is destroyed until somebody confirms it then.',
  ],
  [
    'TRACKED',
    'UNCONFIRMED',
    { delta: one, autodeploy: true, note: 'tags: no owner' },
    'The plan of ada adds 1 resource. Policies warn of it: nothing is applied until somebody confirms it.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'policy_denied', cameFrom: 'PLANNING' },
    'A policy denied it: nothing was applied. Change what it is about, or have an administrator of the stack let exactly these changes pass: under Policies.',
  ],
  [
    'PROPOSED',
    'FAILED',
    { outcome: 'policy_failed', cameFrom: 'PLANNING' },
    'A policy could not be evaluated: nothing was changed. Policies says which line it is: mend the policy or detach it from the stack, then run it again.',
  ],
  [
    'TRACKED',
    'UNCONFIRMED',
    { delta },
    'The plan of ada adds 3 resources, changes 2 and deletes 1. Nothing is applied until somebody confirms it.',
  ],
  [
    'TRACKED',
    'UNCONFIRMED',
    { delta: one },
    'The plan of ada adds 1 resource. Nothing is applied until somebody confirms it.',
  ],
  [
    'TRACKED',
    'UNCONFIRMED',
    { delta: none },
    'The plan of ada changes no resource, only settings or outputs. Nothing is applied until somebody confirms it.',
  ],
  [
    'DESTROY',
    'UNCONFIRMED',
    { delta: { ...none, deleted: 4 } },
    'The tear-down that ada asked for deletes 4 resources. Nothing is destroyed until somebody confirms it.',
  ],
  ['TRACKED', 'CONFIRMED', {}, 'grace confirmed the plan. It goes on by itself as soon as a worker is free.'],
  ['TRACKED', 'PREPARING_APPLY', {}, 'A worker has taken the confirmed plan and makes ready.'],
  ['TRACKED', 'APPLYING', {}, 'The plan is being applied. It is not interrupted any more.'],
  [
    'DESTROY',
    'DESTROYING',
    {},
    'The resources of the stack are being destroyed. It is not interrupted any more.',
  ],
  ['TASK', 'PERFORMING', {}, 'The command of the task runs. It is not interrupted any more.'],
  [
    'PROPOSED',
    'FINISHED',
    { delta },
    'The preview is done: a deployment adds 3 resources, changes 2 and deletes 1. Nothing was changed by it.',
  ],
  ['PROPOSED', 'FINISHED', { delta: none, note: 'nothing to change' }, 'There is nothing to change.'],
  ['TRACKED', 'FINISHED', { delta }, 'The plan is applied. It added 3 resources, changed 2 and deleted 1.'],
  ['TRACKED', 'FINISHED', { delta: none, note: 'nothing to change' }, 'There was nothing to change.'],
  ['DESTROY', 'FINISHED', { delta: { ...none, deleted: 4 } }, 'The resources of the stack are destroyed.'],
  ['DESTROY', 'FINISHED', { delta: none, note: 'nothing to change' }, 'There was nothing to destroy.'],
  ['TASK', 'FINISHED', {}, 'The command ended well.'],
  ['TRACKED', 'STOPPED', {}, 'grace stopped it. Nothing was applied.'],
  [
    'PROPOSED',
    'STOPPED',
    { outcome: 'superseded', actor: 'server' },
    'A newer push of the branch replaced it. Nothing was changed.',
  ],
  [
    'PROPOSED',
    'STOPPED',
    { outcome: 'pull_request_closed' },
    'Its pull request was closed. Nothing was changed.',
  ],
  ['TRACKED', 'DISCARDED', {}, 'grace discarded it. Nothing was applied.'],
  ['DESTROY', 'DISCARDED', {}, 'grace discarded it. Nothing was destroyed.'],
  ['TASK', 'CANCELED', {}, 'grace canceled it. It had not begun.'],
  [
    'PROPOSED',
    'CANCELED',
    { outcome: 'merge_group_destroyed' },
    'Its merge group is gone. It had not begun.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'tool_failed', cameFrom: 'PLANNING' },
    'The tool failed during the plan. Nothing was applied.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'tool_failed', cameFrom: 'APPLYING' },
    'The tool failed while the plan was applied. What it did until then stays done: check the real state before the next run.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'worker_lost', cameFrom: 'APPLYING' },
    'The worker was lost while the plan was applied. Some of it may be done: check the real state, then unlock the stack.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'worker_lost', cameFrom: 'PLANNING' },
    'The worker was lost during the plan. Nothing was applied.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'plan_changed', cameFrom: 'PREPARING_APPLY' },
    'The plan that was confirmed no longer holds. Nothing was applied.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'plan_changed', cameFrom: 'APPLYING' },
    'The plan that was confirmed no longer holds. What was done before that was noticed, if anything, stays done.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'state_locked', cameFrom: 'APPLYING' },
    'The lock of the state is held by somebody else. Nothing was applied.',
  ],
  [
    'DESTROY',
    'FAILED',
    { outcome: 'pending_operations', cameFrom: 'PLANNING' },
    'The state has operations that were cut off. Nothing was destroyed.',
  ],
  [
    'TASK',
    'FAILED',
    { outcome: 'state_locked', cameFrom: 'PERFORMING' },
    'The lock of the state is held by somebody else. What it did until then stays done: check the real state before the next run.',
  ],
  [
    'TASK',
    'FAILED',
    { outcome: 'tool_failed', cameFrom: 'PERFORMING' },
    'The command failed. What it did until then stays done: check the real state before the next run.',
  ],
  [
    'TASK',
    'FAILED',
    { outcome: 'hook_failed', cameFrom: 'INITIALIZING' },
    'A hook failed while the run was initialized. The command did not run.',
  ],
  [
    'DESTROY',
    'FAILED',
    { outcome: 'timeout', cameFrom: 'DESTROYING' },
    'It took too long while resources were destroyed. What it did until then stays done: check the real state before the next run.',
  ],
  [
    'PROPOSED',
    'FAILED',
    { outcome: 'source_unavailable', cameFrom: 'PREPARING' },
    'The source could not be fetched. Nothing was changed.',
  ],
  [
    'TRACKED',
    'FAILED',
    { outcome: 'of a later version', cameFrom: 'PLANNING' },
    'It failed during the plan. Nothing was applied.',
  ],
  ['TRACKED', 'FAILED', {}, 'It failed. Nothing was applied.'],
])('%s in %s, %j', (type, state, told, expected) => {
  expect(sentence(type, state, told)).toBe(expected);
});

test('there are whole sentences for every state, type and outcome', () => {
  const outcomes = [
    ...['disk_limit', 'internal_error', 'output_limit', 'project_unusable'],
    ...['policy_denied', 'policy_failed', 'approval_rejected'],
    ...['state_locked', 'pending_operations'],
  ];
  for (const type of ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] as const) {
    for (const state of runStates) {
      for (const outcome of [undefined, ...outcomes]) {
        for (const cameFrom of runStates) {
          const said = sentence(type, state, { ...(outcome ? { outcome } : {}), cameFrom, delta });
          expect(said).toMatch(/^[A-Za-z][^.]*\.( [A-Z][^.]*\.)?$/);
          expect(said).not.toMatch(/undefined|null|_|\s\./);
        }
      }
    }
  }
});
