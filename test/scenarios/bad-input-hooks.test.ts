import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, expectServerUnharmed, type Failure, good, push } from '../support/bad-input.ts';
import { patience, type Scenario, startScenario } from '../support/scenario.ts';

/** Hooks and tasks that fail, each in its own way. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({ settings: { SANDBOX_NETWORK: 'none' } });
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const failed = { outcome: 'hook_failed', while: 'PLANNING' } as const;
const seeLog = 'Its output stands in the log of the run.';

const cases: Readonly<Record<string, { hook: string; failure: Failure }>> = {
  'a program that is not there': {
    hook: 'no-such-program --now',
    failure: {
      ...failed,
      says: 'The beforePlan hook "no-such-program --now" failed with exit code 127.',
      hint: 'Install it',
    },
  },
  'a file that is not executable': {
    hook: './Pulumi.yaml',
    failure: { ...failed, says: 'failed with exit code 126.', hint: 'chmod +x' },
  },
  'a line that bash cannot read': {
    hook: 'echo "open',
    failure: { ...failed, says: 'failed with exit code 2.', hint: seeLog },
  },
  'an exit code of its own': {
    hook: 'exit 42',
    failure: { ...failed, says: 'failed with exit code 42.', hint: seeLog },
  },
  'many lines': {
    hook: `set -e\nfalse\n${'true # and so on\n'.repeat(200)}`,
    failure: { ...failed, says: '…" failed with exit code 1.', hint: seeLog },
  },
  suicide: {
    hook: 'kill -9 $$',
    failure: { ...failed, says: 'failed with exit code 137.', hint: 'It was killed' },
  },
  'a file of three gigabytes': {
    hook: 'truncate -s 3G big',
    failure: {
      ...failed,
      outcome: 'disk_limit',
      says: 'failed (exit code 153): one of its files grew over 2 GiB',
      hint: 'Write less, or in parts.',
    },
  },
  'more output than allowed': {
    hook: 'yes "a line that fills the log" | head -c 70000000',
    failure: {
      ...failed,
      outcome: 'output_limit',
      says: 'the phase planning may write 64 MiB of output in all.',
      hint: 'less talkative',
    },
  },
  'the project deleted': {
    hook: 'rm -rf Pulumi.yaml',
    failure: {
      ...failed,
      outcome: 'tool_failed',
      says: 'There is no Pulumi.yaml',
      hint: 'that the file is committed',
    },
  },
};

test.each(Object.entries(cases))('%s', async (name, { hook, failure }) => {
  const hooks = { beforePlan: [hook, 'echo never'], afterRun: ['echo cleared up'] };
  const added = await scenario.addStack(name.replace(/\W+/g, '-'), { hooks, autodeploy: true });
  const { id } = await push(scenario, added, good);
  await expectFailure(scenario, id, failure);
  await expect.poll(() => scenario.commandLines(id), patience).toContain('bash -c echo cleared up');
  const isOver = name !== 'the project deleted';
  expect((await scenario.commandLines(id)).includes('bash -c echo never')).toBe(!isOver);
});

test('a hook cannot end the sandbox that it runs in, nor another run', async () => {
  const hooks = { beforePlan: ['kill -9 $PPID; kill -9 1; echo still here'] };
  const added = await scenario.addStack('parricide', { hooks });
  const { id } = await push(scenario, added, good);
  await scenario.api.waitForState(id, 'UNCONFIRMED');
  expect(await scenario.api.log(id, 'planning')).toContain('still here');
});

test('a hook that fails after the plan leaves nothing to confirm', async () => {
  const added = await scenario.addStack('late', { hooks: { afterPlan: ['exit 9'] }, autodeploy: true });
  const { id } = await push(scenario, added, good);
  await expectFailure(scenario, id, { ...failed, says: 'failed with exit code 9.', hint: seeLog });
});

test('a task that fails says so, and an apply hook before anything is applied', async () => {
  const { api } = scenario;
  const added = await scenario.addStack('task', { hooks: { beforeApply: ['exit 5'] }, autodeploy: true });
  const { id } = await push(scenario, added, good);
  await expectFailure(scenario, id, { ...failed, while: 'APPLYING', says: 'exit code 5.', hint: seeLog });
  const task = await api.startRun(added.stack, { type: 'TASK', command: 'pulumi nonsense' });
  await expectFailure(scenario, task.id, {
    ...failed,
    outcome: 'tool_failed',
    while: 'PERFORMING',
    says: '"pulumi nonsense"',
    hint: seeLog,
  });
});

test('the server takes no harm', () => expectServerUnharmed(scenario, 'unharmed'));
