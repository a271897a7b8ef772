import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findInDirectory } from '../../demo/secret-search.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const up = 'pulumi up --refresh --diff --show-replacement-steps';
/** A reference in a program. */
const ref = (path: string) => `$\{${path}}`;
const stateFile = '/state/.pulumi/stacks/scenario/dev.json';
/** What the last hook before the apply saw of the state, and what was there at the very end. */
const sayState = (when: string) => `echo "state ${when}: $(sha256sum < ${stateFile})"`;

/** Where the hooks of a test write what they change: a whole program, indented for a here-document. */
const write = (file: string, text: string) => `cat > ${file} <<'END'\n${text}\nEND`;

/** Another pulumi on the same state, as a person with access to it could run it. */
const behindItsBack = (text: string) =>
  `mkdir -p /tmp/other; cp Pulumi.*.yaml /tmp/other/; ${write('/tmp/other/Pulumi.yaml', text)}
(cd /tmp/other && pulumi up --yes --skip-preview)`;

interface Planned {
  readonly id: string;
  /** Of the state before the apply and at the end; both the same when nothing was touched. */
  states(): Promise<readonly (string | undefined)[]>;
}

/** Applies `first`, plans `second`, and waits for a person. */
async function plan(
  name: string,
  given: {
    first?: string;
    second: string;
    beforePlan?: readonly string[];
    beforeApply?: readonly string[];
    settings?: Record<string, unknown>;
  },
): Promise<Planned> {
  const { api } = scenario;
  const { stack, push } = await scenario.addStack(name, { autodeploy: true });
  const first = await push(given.first ?? program(stash('one', '1'), stash('two', '2')));
  await api.waitForState(first.id, 'FINISHED');
  const hooks = {
    beforePlan: given.beforePlan ?? [],
    beforeApply: [...(given.beforeApply ?? []), sayState('before')],
    afterRun: [sayState('after')],
  };
  await api.changeStack(stack, { autodeploy: false, hooks, ...given.settings });
  const { id } = await push(given.second);
  await api.waitForState(id, 'UNCONFIRMED');
  return {
    id,
    async states() {
      await expect.poll(() => api.log(id), patience).toMatch(/^state after: /m);
      const log = await api.log(id);
      return ['before', 'after'].map((when) => new RegExp(`^state ${when}: (\\S+)`, 'm').exec(log)?.[1]);
    },
  };
}

async function confirmAndExpectRefusal({ id, states }: Planned, ...differences: readonly string[]) {
  const { api } = scenario;
  await api.act(id, 'confirm');
  const run = await api.waitForState(id, 'FAILED');
  expect(run).toMatchObject({ outcome: 'plan_changed' });
  expect(run.note).toContain('The plan you confirmed no longer holds. Nothing was changed.');
  for (const difference of differences) expect(run.note).toContain(`- ${difference}\n`.trim());
  expect(run.note).toContain('Start a new run');
  const [before, after] = await states();
  expect(before).toMatch(/^[0-9a-f]{64}$/);
  expect(after).toBe(before);
  const check = await scenario.waitForCheckRun(id, 'failure');
  expect(check.output?.summary).toContain(differences[0]);
  expect(check.actions.map(({ identifier }) => identifier)).toContain('retry');
  return run;
}

describe('a plan', () => {
  test('is kept encrypted while it waits, and nobody can write it when it is applied', async () => {
    const { api, dataDir } = scenario;
    const inClear = () => findInDirectory(dataDir, ['"resourcePlans"', '"inputDiff"']);
    const attack = `const fs = require('fs'), plan = process.env.PULUMI_OPTION_PLAN;
for (const [how, act] of Object.entries({
  read: () => fs.readFileSync(plan, 'utf8').includes('resourcePlans') || fs.readFileSync('/no/plan'),
  write: () => fs.appendFileSync(plan, ' '),
  replace: () => fs.renameSync('Pulumi.yaml', plan),
  remove: () => fs.unlinkSync(plan),
})) try { act(); console.log(how, 'worked'); } catch (error) { console.log(how, error.code); }`;
    const sdk = 'node_modules/@pulumi/pulumi';
    const { id } = await plan('kept', {
      second: program(stash('one', 'changed'), stash('two', '2')),
      beforeApply: [
        'echo "before it there is: $(ls /run/slipway)"; echo x > /run/slipway/plan; echo "writing ended with $?"',
        // A program that is run with the plan in its hands, from an SDK of its own.
        `mkdir -p ${sdk}/cmd/run; echo '{"name": "@pulumi/pulumi", "version": "3.259.0"}' > ${sdk}/package.json`,
        'echo \'{"name": "x", "main": "index.js"}\' > package.json; echo > index.js',
        write(`${sdk}/cmd/run/index.js`, attack),
        write('Pulumi.yaml', 'name: scenario\nruntime: {name: nodejs, options: {typescript: false}}'),
      ],
    });
    expect(await inClear()).toEqual([]);
    await api.act(id, 'confirm');
    await api.waitForState(id, 'FAILED');
    const log = await api.log(id, 'applying');
    expect(log).toContain('before it there is: hook-prologue.sh');
    expect(log).toContain('writing ended with 1');
    expect(log).toContain('read worked');
    expect(log).toMatch(/write (EROFS|EACCES)/);
    expect(log).toMatch(/replace (EROFS|EBUSY|EXDEV)/);
    expect(log).toMatch(/remove (EROFS|EBUSY|EACCES)/);
    expect(await inClear()).toEqual([]);
  });

  test('is applied without a second preview at once, and with one after a confirmation', async () => {
    const { api } = scenario;
    const { stack, push } = await scenario.addStack('previews', { autodeploy: true });
    const first = await push(program(stash('one', '1')));
    await api.waitForState(first.id, 'FINISHED');
    expect(await scenario.commandLines(first.id)).toContain(up);
    expect(await api.log(first.id, 'applying')).toContain('Updating (dev)');
    expect(await api.log(first.id, 'applying')).not.toContain('Previewing');

    await api.changeStack(stack, { autodeploy: false });
    const second = await push(program(stash('one', '2')));
    await api.waitForState(second.id, 'UNCONFIRMED');
    await api.act(second.id, 'confirm');
    await api.waitForState(second.id, 'FINISHED');
    expect(await scenario.commandLines(second.id)).toContain(up);
    expect(await api.log(second.id, 'applying')).toContain('Previewing update (dev)');
  });
});

describe('what was confirmed no longer holds when', () => {
  test('the program became another', async () => {
    const other = program(stash('one', 'forged'), stash('two', '2'), stash('three', '3'));
    const planned = await plan('edited', {
      second: program(stash('one', 'changed'), stash('two', '2')),
      beforeApply: [write('Pulumi.yaml', other)],
    });
    const run = await confirmAndExpectRefusal(
      planned,
      'one (pulumi:index:Stash): properties changed (input)',
    );
    expect(run.note).not.toContain('forged');
  });

  test('the program wants one resource less, which would be deleted', async () => {
    const planned = await plan('shortened', {
      second: program(stash('one', 'changed'), stash('two', '2')),
      beforeApply: [write('Pulumi.yaml', program(stash('one', 'changed')))],
    });
    await confirmAndExpectRefusal(planned, 'two (pulumi:index:Stash): delete instead of same');
  });

  test('the configuration of the stack became another, and its secrets are not told', async () => {
    const config = 'config: {size: {type: string}, key: {type: string, secret: true}}';
    // In two parts, so that no log shows it by showing the hook.
    const set = (key: string) => `printf %s-%s ${key} secret | pulumi config set --secret key`;
    const planned = await plan('configured', {
      second: `${config}\n${program(stash('one', ref('size')), stash('two', ref('key')))}`,
      beforePlan: ['pulumi config set size small', set('first')],
      beforeApply: [set('wholly-new')],
    });
    const run = await confirmAndExpectRefusal(
      planned,
      'two (pulumi:index:Stash): properties changed (input)',
    );
    const check = await scenario.waitForCheckRun(planned.id, 'failure');
    const log = await scenario.api.log(planned.id);
    expect(log).toContain('[values are hidden');
    expect(JSON.stringify([run, check.history, log])).not.toMatch(/wholly-new-|first-secret/);
  });

  test.each([
    ['lost a resource', program(stash('two', '2')), 'one (pulumi:index:Stash): properties changed (input)'],
    [
      'has one more',
      program(stash('one', '1'), stash('two', '2'), stash('extra', 'x')),
      'extra (pulumi:index:Stash): delete was not planned',
    ],
    [
      'holds other values',
      program(stash('one', '1'), stash('two', 'by hand')),
      'two (pulumi:index:Stash): properties changed (input)',
    ],
  ])('the real world %s', async (what, text, difference) => {
    const planned = await plan(`world-${what.replaceAll(' ', '-')}`, {
      second: program(stash('one', 'changed'), stash('two', '2')),
      beforeApply: [behindItsBack(text)],
    });
    await confirmAndExpectRefusal(planned, difference);
  });
});

describe('a plan of every kind is applied as it was confirmed', () => {
  const options = (more: string) => `    options: {${more}}\n`;
  const secret = '  four:\n    type: pulumi:Stash\n    properties: {input: {fn::secret: hidden}}\n';
  const first = `config: {key: {type: string, secret: true}}
${program(
  stash('one', '1'),
  // Known only once the first is there.
  stash('two', ref('one.output')),
  stash('three', ref('key')),
  secret,
)}outputs: {known-later: "${ref('two.output')}", hidden: "${ref('three.output')}"}\n`;
  const replaced = `config: {key: {type: string, secret: true}}
${program(
  stash('one', '2') + options('replaceOnChanges: [input]'),
  stash('two', '3') + options('replaceOnChanges: [input], deleteBeforeReplace: true'),
  stash('three', ref('key')),
  secret,
)}outputs: {known-later: "${ref('two.output')}", hidden: "${ref('three.output')}"}\n`;
  const hooks = { beforePlan: ['printf %s a-secret-value | pulumi config set --secret key'] };

  test.each([true, false])('autodeploy %s', async (autodeploy) => {
    const { api } = scenario;
    const { push } = await scenario.addStack(`kinds-${autodeploy}`, { autodeploy, hooks });
    const finish = async (id: string) => {
      if (!autodeploy) {
        await api.waitForState(id, 'UNCONFIRMED');
        await api.act(id, 'confirm');
      }
      return api.waitForState(id, 'FINISHED');
    };
    const created = await finish((await push(first)).id);
    expect(created.delta).toEqual({ added: 5, changed: 0, deleted: 0, resources: 5 });
    const changed = await finish((await push(replaced)).id);
    expect(changed.delta).toEqual({ added: 2, changed: 0, deleted: 2, resources: 5 });

    const empty = await push(`# only a remark\n${replaced}`);
    expect(await api.waitForState(empty.id, 'FINISHED')).toMatchObject({ note: 'nothing to change' });
    expect(await scenario.commandLines(empty.id)).not.toContain(up);
  });
});

describe('a program that is never planned twice alike', () => {
  const stamp = { hooks: { beforePlan: ['date +%s%N > stamp'], beforeApply: ['date +%s%N > stamp'] } };
  const yaml = program('  one:\n    type: pulumi:Stash\n    properties: {input: {fn::readFile: ./stamp}}\n');

  test.each([true, false])('is applied only where plan binding is off: %s', async (planBinding) => {
    const { api } = scenario;
    const { push } = await scenario.addStack(`stamp-${planBinding}`, { ...stamp, planBinding });
    const { id } = await push(yaml);
    await api.waitForState(id, 'UNCONFIRMED');
    await api.act(id, 'confirm');
    const run = await api.waitForState(id, planBinding ? 'FAILED' : 'FINISHED');
    if (planBinding) expect(run).toMatchObject({ outcome: 'plan_changed' });
  });
});

describe('a tear-down', () => {
  const both = program(stash('one', '1'), stash('two', '2'));
  const preview = 'pulumi destroy --preview-only --refresh --diff --show-replacement-steps';
  const destroy = 'pulumi destroy --refresh --diff --show-replacement-steps';

  async function confirmed(name: string, behind: string | null, settings: Record<string, unknown> = {}) {
    const { api } = scenario;
    const { stack, push } = await scenario.addStack(name, { autodeploy: true, ...settings });
    const first = await push(both);
    await api.waitForState(first.id, 'FINISHED');
    const hooks = {
      afterPlan: [...(behind === null ? [] : [behindItsBack(behind)]), sayState('before')],
      afterRun: [sayState('after')],
    };
    await api.changeStack(stack, { hooks });
    const { id } = await api.startRun(stack, { type: 'DESTROY' });
    const waiting = await api.waitForState(id, 'UNCONFIRMED');
    expect(waiting.delta).toEqual({ added: 0, changed: 0, deleted: 3, resources: 0 });
    await api.act(id, 'confirm', { confirmation: name });
    return { id, stack };
  }

  test('is planned once more before it begins, and done when that is what was confirmed', async () => {
    const { api } = scenario;
    const { id } = await confirmed('destroyed', null);
    await api.waitForState(id, 'FINISHED');
    const commands = (await api.commands(id)).map(({ phase, argv }) => `${phase}: ${argv.join(' ')}`);
    expect(commands.filter((line) => line.includes('destroy --'))).toEqual([
      `planning: ${preview}`,
      `preparing: ${preview}`,
      `destroying: ${destroy}`,
    ]);
    expect((await scenario.passedStates(id)).slice(-3)).toEqual([
      'PREPARING_APPLY',
      'DESTROYING',
      'FINISHED',
    ]);
    expect(await api.log(id, 'preparing')).toContain('it must still be what was confirmed');
  });

  test('does not take what came since it was confirmed', async () => {
    const { api } = scenario;
    const more = program(stash('one', '1'), stash('two', '2'), stash('precious', '3'));
    const { id } = await confirmed('grown', more);
    const run = await api.waitForState(id, 'FAILED');
    expect(run).toMatchObject({ outcome: 'plan_changed' });
    expect(run.note).toContain(
      'The plan you confirmed no longer holds. Nothing was destroyed.\n- precious (pulumi:index:Stash): delete was not planned',
    );
    expect((await scenario.passedStates(id)).slice(-2)).toEqual(['PREPARING_APPLY', 'FAILED']);
    expect(await scenario.commandLines(id)).not.toContain(destroy);
    await expect.poll(() => api.log(id), patience).toMatch(/^state after: /m);
    const said = [...(await api.log(id)).matchAll(/^state \w+: (\S+)/gm)].map(([, digest]) => digest);
    expect(said).toHaveLength(2);
    expect(said[1]).toBe(said[0]);
    const check = await scenario.waitForCheckRun(id, 'failure');
    expect(check.output?.summary).toContain('precious');
  });

  test('takes it where the stack does not bind plans', async () => {
    const { api } = scenario;
    const { id } = await confirmed('grown-unbound', program(stash('one', '1')), { planBinding: false });
    await api.waitForState(id, 'FINISHED');
    expect((await scenario.commandLines(id)).filter((line) => line === preview)).toHaveLength(1);
  });
});
