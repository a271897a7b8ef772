import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const lists = [
  ...['beforeInit', 'afterInit', 'beforePlan', 'afterPlan', 'beforeApply', 'afterApply'],
  ...['beforeDestroy', 'afterDestroy', 'beforePerform', 'afterPerform', 'afterRun'],
];
/** Two in each list. */
const allHooks = Object.fromEntries(lists.map((list) => [list, [`: ${list} 1`, `: ${list} 2`]]));
const hook = (phase: string, list: string) => [1, 2].map((n) => `${phase}: bash -c : ${list} ${n}`);
const flags = '--refresh --diff --show-replacement-steps';

const initializing = [
  'initializing: pulumi login file:///state',
  'initializing: pulumi stack select --create --stack dev',
  ...hook('initializing', 'beforeInit'),
  ...hook('initializing', 'afterInit'),
];
const planning = (command: string) => [
  ...hook('planning', 'beforePlan'),
  `planning: pulumi ${command} ${flags}`,
  ...hook('planning', 'afterPlan'),
];
const applying = [
  ...hook('applying', 'beforeApply'),
  `applying: pulumi up ${flags}`,
  ...hook('applying', 'afterApply'),
];

test('the hooks of all lists run in their order around the commands of each type of run', async () => {
  const { api } = scenario;
  const { stack, push } = await scenario.addStack('ordered', { hooks: allHooks });

  /** What ran, in order, once the last after_run hook did; it comes a moment after the last state. */
  async function ran(id: string): Promise<string[]> {
    const told = async () => (await api.commands(id)).map(({ phase, argv }) => `${phase}: ${argv.join(' ')}`);
    await expect.poll(told, patience).toContainEqual(expect.stringMatching(/: afterRun 2$/));
    return (await told()).filter((line) => !line.includes('--select dev'));
  }

  const tracked = await push(program(stash('one', '1')));
  await api.waitForState(tracked.id, 'UNCONFIRMED');
  await api.act(tracked.id, 'confirm');
  await api.waitForState(tracked.id, 'FINISHED');
  expect(await ran(tracked.id)).toEqual([
    ...initializing,
    ...planning('preview'),
    ...applying,
    ...hook('applying', 'afterRun'),
  ]);

  await api.changeStack(stack, { autodeploy: true });
  const deployed = await push(program(stash('one', '2')));
  await api.waitForState(deployed.id, 'FINISHED');
  expect(await ran(deployed.id)).toEqual(await ran(tracked.id));

  const idle = await api.startRun(stack, { type: 'TRACKED' });
  await api.waitForState(idle.id, 'FINISHED');
  const onlyPlanned = [...initializing, ...planning('preview'), ...hook('planning', 'afterRun')];
  expect(await ran(idle.id)).toEqual(onlyPlanned);

  const proposed = await push(program(stash('one', '3')), { branch: 'feature' });
  await api.waitForState(proposed.id, 'FINISHED');
  expect(await ran(proposed.id)).toEqual(onlyPlanned);

  const task = await api.startRun(stack, { type: 'TASK', command: 'pulumi stack ls' });
  await api.waitForState(task.id, 'FINISHED');
  expect(await ran(task.id)).toEqual([
    ...initializing,
    ...hook('performing', 'beforePerform'),
    'performing: bash -c pulumi stack ls',
    ...hook('performing', 'afterPerform'),
    ...hook('performing', 'afterRun'),
  ]);

  const destroy = await api.startRun(stack, { type: 'DESTROY' });
  await api.waitForState(destroy.id, 'UNCONFIRMED');
  await api.act(destroy.id, 'confirm', { confirmation: 'ordered' });
  await api.waitForState(destroy.id, 'FINISHED');
  expect(await ran(destroy.id)).toEqual([
    ...initializing,
    ...planning('destroy --preview-only'),
    `preparing: pulumi destroy --preview-only ${flags}`,
    ...hook('destroying', 'beforeDestroy'),
    `destroying: pulumi destroy ${flags}`,
    ...hook('destroying', 'afterDestroy'),
    ...hook('destroying', 'afterRun'),
  ]);
});

test('a run goes by the settings, hooks and variables of its beginning, the next one by the new ones', async () => {
  const { api } = scenario;
  const say = (what: string) => [`echo "${what} hook, variable $WHICH"`];
  const all = (what: string) => ({ beforePlan: say(what), beforeApply: say(what), afterRun: say(what) });
  const { stack, push } = await scenario.addStack('frozen', {
    hooks: { ...all('old'), afterInit: ['touch here; while [ ! -e go ]; do sleep 0.1; done'] },
  });
  await api.setVariable(stack, 'WHICH', { value: 'old', secret: false });
  const { id } = await push(program(stash('one', '1')));
  await expect.poll(() => api.log(id, 'initializing'), patience).toContain('touch here');
  await api.changeStack(stack, { hooks: { ...all('new'), afterInit: [] }, autodeploy: true });
  await api.setVariable(stack, 'WHICH', { value: 'new', secret: false });
  const tree = join(scenario.dataDir, 'workspaces', id, 'tree');
  await writeFile(join(tree, 'go'), '');

  // Autodeploy came too late for it.
  await api.waitForState(id, 'UNCONFIRMED');
  await api.setVariable(stack, 'WHICH', { value: 'newer', secret: false });
  await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED');
  await expect.poll(() => api.log(id), patience).toMatch(/(old hook, variable old[\s\S]*){3}/);
  expect(await api.log(id)).not.toMatch(/new hook|variable new/);

  const next = await push(program(stash('one', '2')));
  await api.waitForState(next.id, 'FINISHED');
  await expect.poll(() => api.log(next.id), patience).toMatch(/(new hook, variable newer[\s\S]*){3}/);
  expect(await api.log(next.id)).not.toContain('old hook');
});

test('what a hook exports reaches what comes after it, over a confirmation and a restart of the server', async () => {
  // A server of its own, because it is killed.
  await using fresh = await startScenario();
  const { api, server } = fresh;
  const print = `printf "<%s>" "$LINES_OF" "$EMPTY" "$GREETING"; echo "$\{EMPTY+ empty is set}"`;
  const hooks = {
    beforeInit: [
      // With it, Pulumi writes its state compressed: that shows that the tool itself saw it.
      'export PULUMI_DIY_BACKEND_GZIP=true REGION="north  and $SLIPWAY_BRANCH"; exit 0',
      "export LINES_OF=$'one\\n two\\n' EMPTY= GREETING='grüß \"dich\" 👋'",
      'mkdir -p bin; echo "echo I am on the PATH" > bin/greet; chmod +x bin/greet; export PATH=$PWD/bin:$PATH',
      'export GONE=soon PLAIN=changed',
    ],
    afterInit: ['echo "before: $GONE, $PLAIN"; unset GONE PLAIN'],
    beforePlan: [
      'echo "planning in [$REGION]"; greet; echo "after: [$GONE], $PLAIN"',
      'export PULUMI_STACK=other LD_PRELOAD=/tmp/x.so',
      print,
    ],
    beforeApply: ['echo "applying in [$REGION], stack $PULUMI_STACK, preload [$LD_PRELOAD]"; greet', print],
    afterApply: ['find /state -name "dev.json*"'],
  };
  const { stack, push } = await fresh.addStack('exported', { hooks });
  await api.setVariable(stack, 'PLAIN', { value: 'of the stack', secret: false });
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  await server.kill9();
  await server.start();
  await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED');

  const printed = '<one\n two\n><><grüß "dich" 👋> empty is set';
  expect(await api.log(id, 'initializing')).toContain('before: soon, changed');
  const planning = await api.log(id, 'planning');
  expect(planning).toContain('planning in [north  and main]\nI am on the PATH\nafter: [], of the stack');
  expect(planning).toContain('the export of PULUMI_STACK is refused');
  expect(planning).toContain('the export of LD_PRELOAD is refused');
  expect(planning).toContain(printed);
  const applying = await api.log(id, 'applying');
  expect(applying).toContain('applying in [north  and main], stack dev, preload []\nI am on the PATH');
  expect(applying).toContain(printed);
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

test('after_run hooks run in the checkout where there is no project to run them in', async () => {
  const { api } = scenario;
  const hooks = { afterRun: ['pwd; ls; touch mine && echo "it is ours"'] };
  const { stack } = await scenario.addStack('no-project', { hooks, projectRoot: 'nowhere' });
  const { id } = await api.startRun(stack, { type: 'TRACKED' });
  expect(await api.waitForState(id, 'FAILED')).toMatchObject({ outcome: 'project_unusable' });
  await expect.poll(() => api.log(id, 'preparing'), patience).toContain('/workspace\nREADME.md\nit is ours');
});
