import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { StackObject } from '../../demo/api-objects.ts';
import { findInDirectory, formsOf } from '../../demo/secret-search.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { type ScenarioPolicy, scenarioPolicies } from '../support/scenario-policies.ts';

let scenario: Scenario;
let policies: ReturnType<typeof scenarioPolicies>;
let policy: ScenarioPolicy;
beforeAll(async () => {
  scenario = await startScenario();
  policies = scenarioPolicies(scenario.api);
  policy = await policies.add('PLAN', 'keeper', 'sample := true\n\ndeny contains "never" if false', '*');
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

// Nothing but what the specification names: any other field is an error here.
const state = z
  .strictObject({
    custom: z.boolean(),
    id: z.string(),
    inputs: z.record(z.string(), z.unknown()),
    outputs: z.record(z.string(), z.unknown()),
    parent: z.string(),
    provider: z.string(),
    type: z.string(),
    urn: z.string(),
  })
  .nullable();
const ops = ['same', 'refresh', 'create', 'update', 'delete', 'create-replacement', 'delete-replaced'];
const step = z.strictObject({
  op: z.enum(ops),
  provider: z.string(),
  type: z.string(),
  urn: z.string(),
  new: state,
  old: state,
});
const inputSchema = z.strictObject({
  pulumi: z.strictObject({ steps: z.array(step) }),
  slipway: z.looseObject({ run: z.looseObject({ id: z.string() }), previous_run: z.unknown().optional() }),
  third_party_metadata: z.strictObject({ custom: z.strictObject({}) }),
});
type Step = z.infer<typeof step>;

const nameOf = (urn: string) => urn.split('::').at(-1) ?? '';

/** What the policy saw of a run, out of the sample that it asked for. */
async function seenOf(runId: string) {
  const sample = (await policies.samples(policy)).find(({ run }) => run === runId);
  const { pulumi, slipway } = inputSchema.parse(await policies.input(sample?.id ?? ''));
  const ofName = (name: string, op?: string): Step | undefined =>
    pulumi.steps.find((each) => nameOf(each.urn) === name && (op === undefined || each.op === op));
  const told = pulumi.steps.map(({ op, urn }) => `${op} ${nameOf(urn)}`);
  return { steps: pulumi.steps, slipway, ofName, told };
}

test('a policy sees the steps of a program in JavaScript as specified: components, replacements, refreshes, secrets', async () => {
  const { api, github } = scenario;
  const secrets = ['swordfish-of-the-config', 'swordfish-of-the-output', 'swordfish-deep-inside'];
  const [ofConfig, ofOutput, deep] = secrets;
  const hooks = {
    beforeInit: ['npm ci'],
    beforePlan: [`printf %s "$OF_CONFIG" | pulumi config set --secret key`],
  };
  const { stack, repository } = await scenario.addStack('javascript', { autodeploy: true, hooks });
  await api.setVariable(stack, 'OF_CONFIG', { value: ofConfig, secret: true });
  const ofDemo = (name: string) =>
    readFile(new URL(`../../demo/programs/javascript/${name}`, import.meta.url), 'utf8');
  const lists = {
    'package.json': await ofDemo('package.json'),
    'package-lock.json': await ofDemo('package-lock.json'),
  };
  const pushProgram = async (body: string) => {
    const { sha } = await github.commitAndPush(repository, {
      ...{ branch: 'main', message: 'Change the program' },
      files: {
        ...lists,
        'Pulumi.yaml': 'name: scenario\nruntime: {name: nodejs, options: {typescript: false}}\n',
        'index.js': `${world}\n${body}\n`,
      },
    });
    const { id } = await api.waitForRun(stack, sha);
    await api.waitForState(id, 'FINISHED', 180_000);
    return seenOf(id);
  };

  const created = await pushProgram(`
new Group('all', 'a');
thing('drifting', { content: 1, drifts: true });
thing('steady', { content: 1 });
thing('replaced', { content: 1 });
thing('doomed', { content: 1 });
new pulumi.Stash('hidden', { input: { open: 'shown, [not hidden]', deep: [{ key: pulumi.secret('${deep}') }] } });
new pulumi.Stash('configured', { input: new pulumi.Config().requireSecret('key') });
exports.open = 'shown';
exports.hidden = pulumi.secret('${ofOutput}');`);
  expect(created.told.toSorted()).toEqual(
    ['scenario-dev', 'all', 'all-inner', 'drifting', 'steady', 'replaced', 'doomed', 'hidden', 'configured']
      .map((name) => `create ${name}`)
      .toSorted(),
  );
  expect(created.steps.every((each) => each.old === null && each.new !== null)).toBe(true);
  const group = created.ofName('all');
  expect(group).toMatchObject({
    type: 'scenario:index:Group',
    new: { custom: false, parent: created.ofName('scenario-dev')?.urn },
  });
  expect(created.ofName('all-inner')?.new).toMatchObject({ custom: true, parent: group?.urn });
  expect(created.ofName('hidden')?.new?.inputs).toEqual({
    input: { open: 'shown, [not hidden]', deep: [{ key: '[secret]' }] },
  });
  expect(created.ofName('configured')?.new?.inputs).toEqual({ input: '[secret]' });
  expect(created.ofName('scenario-dev')?.new?.outputs).toEqual({ open: 'shown', hidden: '[secret]' });
  expect(created.slipway).not.toHaveProperty('previous_run');

  const changed = await pushProgram(`
new Group('all', 'a');
thing('drifting', { content: 1, drifts: true });
thing('steady', { content: 2 });
thing('replaced', { content: 1, moved: true });
new pulumi.Stash('hidden', { input: { open: 'shown, [not hidden]', deep: [{ key: pulumi.secret('${deep}') }] } });
new pulumi.Stash('configured', { input: new pulumi.Config().requireSecret('key') });
exports.open = 'shown';
exports.hidden = pulumi.secret('${ofOutput}');`);
  expect(new Set(changed.steps.map(({ op }) => op))).toEqual(
    new Set(['same', 'refresh', 'update', 'delete', 'create-replacement', 'delete-replaced']),
  );
  expect(changed.ofName('drifting', 'refresh')).toMatchObject({
    old: { outputs: { content: 1 } },
    new: { outputs: { content: 'drifted' } },
  });
  expect(changed.ofName('steady', 'update')).toMatchObject({
    old: { inputs: { content: 1 } },
    new: { inputs: { content: 2 } },
  });
  expect(changed.ofName('replaced', 'create-replacement')).toMatchObject({
    new: { inputs: { moved: true } },
  });
  expect(changed.ofName('replaced', 'delete-replaced')?.new).toBeNull();
  expect(changed.ofName('doomed', 'delete')).toMatchObject({ new: null, old: { id: 'doomed' } });
  expect(changed.slipway.previous_run).toMatchObject({ state: 'FINISHED', type: 'TRACKED' });
  await expectNowhere(secrets, stack);
});

/** On no disk, once the workspaces are gone, and nowhere that people look. */
async function expectNowhere(secrets: readonly string[], stack: StackObject): Promise<void> {
  const { api, dataDir, github, receiver, server } = scenario;
  const forms = secrets.flatMap(formsOf);
  await expect.poll(() => findInDirectory(dataDir, forms), { ...patience, interval: 500 }).toEqual([]);
  const samples = await policies.samples(policy);
  const inputs = await Promise.all(samples.map(({ id }) => policies.input(id)));
  const logs = await Promise.all((await api.runsOf(stack)).map(({ id }) => api.log(id)));
  const shown = [
    ...logs,
    await server.log(),
    JSON.stringify(github.checkRuns.map(({ history }) => history)),
    JSON.stringify(receiver.received),
    JSON.stringify([inputs, await policies.decisions(policy)]),
  ].join('\n');
  expect(forms.filter((form) => shown.includes(form))).toEqual([]);
}

/** A component, and a resource of which another program tells another story each time it is read. */
const world = `
const pulumi = require('@pulumi/pulumi');
class Group extends pulumi.ComponentResource {
  constructor(name, value) {
    super('scenario:index:Group', name);
    new pulumi.Stash(name + '-inner', { input: value }, { parent: this });
    this.registerOutputs({});
  }
}
const provider = {
  async create(inputs) { return { id: inputs.name, outs: inputs }; },
  async diff(id, olds, news) {
    return { changes: olds.content !== news.content || olds.moved !== news.moved, replaces: olds.moved === news.moved ? [] : ['moved'] };
  },
  async update(id, olds, news) { return { outs: news }; },
  async read(id, props) { return { id, props: props.drifts ? { ...props, content: 'drifted' } : props }; },
};
const Thing = class extends pulumi.dynamic.Resource {};
const thing = (name, props) => new Thing(provider, name, { name, ...props });`;

test('a preview that failed is judged by nobody', async () => {
  const { api } = scenario;
  const { push } = await scenario.addStack('failing', { autodeploy: true });
  const { id } = await push(program(stash('one', `$\{nothing.here}`)));
  await api.waitForState(id, 'FAILED');
  expect(await policies.ofRun(id)).toEqual([]);
  expect((await policies.samples(policy)).filter(({ run }) => run === id)).toEqual([]);
});

test('a policy sees what the state became behind the back of the stack, and what is torn down', async () => {
  const { api } = scenario;
  const behindItsBack = `mkdir -p /tmp/other; cat > /tmp/other/Pulumi.yaml <<'END'
${program(stash('one', 'by hand'), stash('stray', 'x'))}END
(cd /tmp/other && pulumi up --yes --skip-preview)`;
  const { stack, push } = await scenario.addStack('behind', { autodeploy: true });
  await api.waitForState((await push(program(stash('one', '1')))).id, 'FINISHED');
  await api.changeStack(stack, { autodeploy: false, hooks: { beforePlan: [behindItsBack] } });
  const again = await push(program(stash('one', '1'), stash('two', '2')));
  await api.waitForState(again.id, 'UNCONFIRMED');
  const seen = await seenOf(again.id);
  expect(seen.told.toSorted()).toEqual([
    'create two',
    'delete stray',
    'refresh one',
    'refresh scenario-dev',
    'refresh stray',
    'same scenario-dev',
    'update one',
  ]);
  expect(seen.ofName('one', 'update')).toMatchObject({
    old: { inputs: { input: 'by hand' } },
    new: { inputs: { input: 1 } },
  });
  await api.act(again.id, 'discard');

  await api.changeStack(stack, { hooks: { beforePlan: [] } });
  const destroy = await api.startRun(stack, { type: 'DESTROY' });
  await api.waitForState(destroy.id, 'UNCONFIRMED');
  const down = await seenOf(destroy.id);
  const deleted = down.steps.filter(({ op }) => op === 'delete');
  expect(deleted.map(({ urn }) => nameOf(urn)).toSorted()).toEqual(['one', 'scenario-dev', 'stray']);
  expect(deleted.map(({ new: after }) => after)).toEqual([null, null, null]);
  expect(new Set(down.steps.map(({ op }) => op))).toEqual(new Set(['refresh', 'delete']));
  await api.act(destroy.id, 'discard');
});
