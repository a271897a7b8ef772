import { afterAll, beforeAll, expect, test } from 'vitest';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test('hooks run in their order, those before initialization after login and select', async () => {
  const { api } = scenario;
  const hooks = {
    beforeInit: ['echo before-init-1', 'echo before-init-2'],
    afterInit: ['echo after-init'],
    beforePlan: ['echo before-plan'],
    afterPlan: ['echo after-plan'],
    beforeApply: ['echo before-apply'],
    afterApply: ['echo after-apply'],
    afterRun: ['echo after-run'],
  };
  const { push } = await scenario.addStack('ordered', { hooks });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED');
  // These run after the end of the run, so they come a moment later than its last state.
  await expect.poll(() => scenario.commandLines(id), patience).toContain('bash -c echo after-run');

  const lines = await scenario.commandLines(id);
  expect(lines.filter((line) => !line.includes('--select dev'))).toEqual([
    'pulumi login file:///state',
    'pulumi stack select --create --stack dev',
    'bash -c echo before-init-1',
    'bash -c echo before-init-2',
    'bash -c echo after-init',
    'bash -c echo before-plan',
    'pulumi preview --refresh --diff --show-replacement-steps',
    'bash -c echo after-plan',
    'bash -c echo before-apply',
    'pulumi up --refresh --diff --show-replacement-steps',
    'bash -c echo after-apply',
    'bash -c echo after-run',
  ]);
  const log = await api.log(id);
  expect(log.indexOf('before-init-2')).toBeGreaterThan(log.indexOf('before-init-1'));
});

test('what a hook exports reaches the hooks and the tool after it, also over a confirmation', async () => {
  const { api } = scenario;
  const hooks = {
    // With it, Pulumi writes its state compressed: that shows that the tool itself saw it.
    beforeInit: ['export PULUMI_DIY_BACKEND_GZIP=true REGION="north  and $SLIPWAY_BRANCH"; exit 0'],
    beforePlan: ['echo "planning in [$REGION]"', 'export PULUMI_STACK=other LD_PRELOAD=/tmp/x.so'],
    beforeApply: ['echo "applying in [$REGION], stack $PULUMI_STACK, preload [$LD_PRELOAD]"'],
    afterApply: ['find /state -name "dev.json*"'],
  };
  const { push } = await scenario.addStack('exported', { hooks });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED');

  const planning = await api.log(id, 'planning');
  expect(planning).toContain('planning in [north  and main]');
  expect(planning).toContain('the export of PULUMI_STACK is refused');
  expect(planning).toContain('the export of LD_PRELOAD is refused');
  const applying = await api.log(id, 'applying');
  expect(applying).toContain('applying in [north  and main], stack dev, preload []');
  expect(applying).toMatch(/\/state\/\.pulumi\/stacks\/scenario\/dev\.json\.gz/);
});

test('a hook that fails ends the run there, and after_run hooks still run', async () => {
  const { api } = scenario;
  const hooks = {
    beforeInit: ['echo fine', 'echo wrong >&2; exit 7', 'echo never'],
    afterRun: ['echo cleared-up'],
  };
  const { push } = await scenario.addStack('failing-hook', { hooks, autodeploy: true });
  const { id } = await push(program(stash('one', '1')));
  const run = await api.waitForState(id, 'FAILED');
  expect(run).toMatchObject({ outcome: 'hook_failed', note: expect.stringContaining('exit code 7') });
  expect((await scenario.passedStates(id)).slice(-2)).toEqual(['INITIALIZING', 'FAILED']);
  await expect.poll(() => scenario.commandLines(id), patience).toContain('bash -c echo cleared-up');
  const lines = await scenario.commandLines(id);
  expect(lines).not.toContain('bash -c echo never');
  expect(lines).not.toContainEqual(expect.stringMatching(/^pulumi preview/));
  const check = await scenario.waitForCheckRun(id, 'failure');
  expect(check.output?.summary).toContain('exit code 7');
});
