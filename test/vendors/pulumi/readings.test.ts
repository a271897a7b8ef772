import { describe, expect, test } from 'vitest';
import { readApply, readPlan } from '../../../src/vendors/pulumi/readings.ts';
import { outputsOf, type Recording, recording, recordingNames } from './recordings.ts';

const recordings = recordingNames.map(recording);
const succeeded = ({ exitCode, events }: Recording) => exitCode === 0 && events !== null;
const isApply = ({ argv }: Recording) =>
  argv[1] === 'up' || (argv[1] === 'destroy' && argv[2] !== '--preview-only');
const ranNothing = 'runtime-missing';
const previews = recordings.filter((one) => succeeded(one) && !isApply(one) && one.name !== ranNothing);
const applies = recordings.filter((one) => succeeded(one) && isApply(one));

async function planOf(name: string) {
  const one = recording(name);
  const result = await readPlan(outputsOf(one), one.argv[1] === 'destroy' ? 'destroy' : 'apply');
  if (result.kind !== 'planned') throw new Error(`${name}: ${result.message}`);
  return result;
}

/** As people write it: op and name, without the refreshes of every plan. */
async function opsOf(name: string): Promise<string[]> {
  const { steps } = await planOf(name);
  return steps.filter(({ op }) => op !== 'refresh').map(({ op, urn }) => `${op} ${urn.split('::').at(-1)}`);
}

describe('a plan', () => {
  test.each([
    ['create', true, { added: 3, changed: 0, deleted: 0, resources: 3 }],
    ['no-change', false, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['output-only', true, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['outputs-removed', true, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['update', true, { added: 0, changed: 1, deleted: 0, resources: 3 }],
    ['replace-create-first', true, { added: 1, changed: 0, deleted: 1, resources: 3 }],
    ['replace-delete-first', true, { added: 1, changed: 0, deleted: 1, resources: 3 }],
    ['protect', true, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['alias', true, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['parent', true, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['rename', true, { added: 1, changed: 0, deleted: 1, resources: 3 }],
    ['delete', true, { added: 0, changed: 0, deleted: 1, resources: 2 }],
    ['drift', true, { added: 1, changed: 1, deleted: 0, resources: 5 }],
    ['leftover', true, { added: 0, changed: 0, deleted: 1, resources: 4 }],
    ['component', true, { added: 3, changed: 0, deleted: 0, resources: 3 }],
    ['explicit-provider', true, { added: 3, changed: 0, deleted: 0, resources: 3 }],
    ['explicit-provider-again', false, { added: 0, changed: 0, deleted: 0, resources: 3 }],
    ['other-provider', true, { added: 1, changed: 0, deleted: 0, resources: 4 }],
    ['read-first', true, { added: 0, changed: 0, deleted: 0, resources: 2 }],
    ['read-again', false, { added: 0, changed: 0, deleted: 0, resources: 2 }],
    ['discard', true, { added: 0, changed: 0, deleted: 0, resources: 2 }],
    ['destroy-preview', true, { added: 0, changed: 0, deleted: 3, resources: 0 }],
    ['destroy-preview-nothing', false, { added: 0, changed: 0, deleted: 0, resources: 0 }],
  ])('of %s has changes: %s, and counts', async (name, hasChanges, delta) => {
    expect(await planOf(name)).toMatchObject({ hasChanges, delta });
  });

  const markOf = (name: string, replacedFor: string[], isProtected = false) => ({
    ...{ urn: `urn:pulumi:dev::sample::pulumi:index:Stash::${name}`, replacedFor, isProtected },
  });

  test.each([
    ['update', []],
    ['replace-create-first', [markOf('one', ['input'])]],
    ['replace-delete-first', [markOf('one', ['input'])]],
    ['protect', [markOf('one', [], true)]],
  ])('of %s says what forces a replacement, and what is protected', async (name, marks) => {
    expect((await planOf(name)).marks).toEqual(marks);
  });

  test('is told of every recorded preview that succeeded', () => {
    expect(previews.length).toBeGreaterThanOrEqual(41);
  });

  // All of them are "3 unchanged" in Pulumi's own count, but for the input.
  test.each([
    ['quiet-nothing', false],
    ['quiet-secret-output', true],
    ['quiet-output-becomes-secret', true],
    ['quiet-output-becomes-plain', true],
    ['quiet-input-becomes-secret', true],
    ['quiet-component-nothing', false],
    ['quiet-component-secret-output', true],
    ['quiet-retain-on-delete', true],
    // The provider sees no reason to change anything for what a refresh found.
    ['drift-without-step', false],
    // Neither the events nor the saved plan tell these from what is in the state: docs/runs.md.
    ['quiet-delete-before-replace', false],
    ['quiet-depends-on', false],
    ['quiet-timeouts', false],
    ['quiet-ignore-changes', false],
    ['quiet-replace-on-changes', false],
    ['quiet-additional-secret-outputs', false],
    ['quiet-alias-of-nothing', false],
    ['quiet-alias-settled', false],
    ['quiet-alias-removed', false],
  ])('of %s has changes: %s', async (name, hasChanges) => {
    expect((await planOf(name)).hasChanges).toBe(hasChanges);
  });

  test.each(previews.map(({ name }) => name))(
    'of %s agrees with what Pulumi printed for people',
    async (name) => {
      const { delta, steps } = await planOf(name);
      const printed = recording(name).stdout;
      const count = (pattern: RegExp) => Number(pattern.exec(printed)?.[1] ?? 0);
      const created = count(/^ +\+ (\d+) to create$/m);
      const replaced = count(/^ +\+-(\d+) to replace$/m);
      const updated = count(/^ +~ (\d+) to update$/m);
      // Pulumi leaves what it deletes for an earlier replacement out of its count, not out of its list.
      const leftovers =
        count(/^ +\+-(\d+) to replace$/m) > 0 ? 0 : steps.filter(({ op }) => op === 'delete-replaced').length;
      expect(delta).toEqual({
        added: created + replaced,
        changed: updated,
        deleted: count(/^ +- (\d+) to delete$/m) + replaced + leftovers,
        resources: count(/(\d+) unchanged$/m) + created + updated + replaced,
      });
    },
  );

  test('lists the steps in the order of Pulumi, replacements by their halves', async () => {
    expect(await opsOf('replace-create-first')).toEqual([
      'same sample-dev',
      'create-replacement one',
      'same keys',
      'delete-replaced one',
    ]);
    expect(await opsOf('replace-delete-first')).toEqual([
      'same sample-dev',
      'delete-replaced one',
      'create-replacement one',
      'same keys',
    ]);
    expect(await opsOf('leftover')).toEqual([
      'same sample-dev',
      'same a',
      'same c',
      'same d',
      'delete-replaced d',
    ]);
    expect(await opsOf('discard')).toEqual(['same sample-dev', 'same one', 'delete other']);
    expect(await opsOf('read-again')).toEqual(['same sample-dev', 'same one', 'same other']);
    expect(await opsOf('explicit-provider')).toEqual(['create sample-dev', 'create mine', 'create one']);
    expect(await opsOf('component')).toEqual(['create sample-dev', 'create all', 'create all-inner']);
  });

  test('shows states before and after, with secrets hidden in inputs and outputs', async () => {
    const { steps } = await planOf('create');
    const keys = steps.find(({ urn }) => urn.endsWith('::keys'));
    expect(keys).toEqual({
      op: 'create',
      provider:
        'urn:pulumi:dev::sample::pulumi:providers:pulumi::default::04da6b54-80e4-46f7-96ec-b56ff0331ba9',
      type: 'pulumi:index:Stash',
      urn: 'urn:pulumi:dev::sample::pulumi:index:Stash::keys',
      old: null,
      new: {
        custom: true,
        id: '',
        inputs: { input: { hidden: '[secret]', open: 'a' } },
        outputs: {
          input: { hidden: '[secret]', open: 'a' },
          output: { hidden: '[secret]', open: 'a' },
        },
        parent: 'urn:pulumi:dev::sample::pulumi:pulumi:Stack::sample-dev',
        provider:
          'urn:pulumi:dev::sample::pulumi:providers:pulumi::default::04da6b54-80e4-46f7-96ec-b56ff0331ba9',
        type: 'pulumi:index:Stash',
        urn: 'urn:pulumi:dev::sample::pulumi:index:Stash::keys',
      },
    });
  });

  test('has the outputs of components and of the root stack, which come last', async () => {
    const group = (await planOf('component')).steps.find(({ type }) => type === 'sample:index:Group');
    expect(group?.new?.outputs).toEqual({ inner: 'all', size: 1 });
    const [, , , stack] = (await planOf('output-only')).steps;
    expect(stack?.old?.outputs).toEqual({ one: '1' });
    expect(stack?.new?.outputs).toEqual({ one: '1', two: 'added' });
  });

  test.each(previews.map(({ name }) => name))('of %s has states of exactly eight fields', async (name) => {
    const fields = ['custom', 'id', 'inputs', 'outputs', 'parent', 'provider', 'type', 'urn'];
    for (const step of (await planOf(name)).steps) {
      expect(Object.keys(step).sort()).toEqual(['new', 'old', 'op', 'provider', 'type', 'urn']);
      for (const state of [step.old, step.new]) {
        if (state !== null) expect(Object.keys(state).sort()).toEqual(fields);
      }
      expect(step.old ?? step.new).not.toBeNull();
    }
  });

  test('of a program that never ran is none, though pulumi calls it a success', async () => {
    const never = { kind: 'unreadable', message: expect.stringContaining('declared nothing') };
    expect(await readPlan(outputsOf(recording(ranNothing)))).toMatchObject(never);
    // With a stack that has resources it would be a plan to delete them all.
    expect(await readPlan(outputsOf(recording('destroy-preview')))).toMatchObject(never);
  });

  test('names the plan file only when there is one', async () => {
    expect((await planOf('create')).planFile).toBe('plan.json');
    expect((await planOf('destroy-preview')).planFile).toBeNull();
    expect(await readPlan(outputsOf(recording('create'), { hasPlan: false }))).toMatchObject({
      planFile: null,
    });
    expect(await readPlan(outputsOf(recording('create'), { plan: '' }))).toMatchObject({ planFile: null });
  });
});

describe('an apply', () => {
  test.each(applies.map(({ name }) => name))('of %s is applied', async (name) => {
    expect(await readApply(outputsOf(recording(name)))).toEqual({ kind: 'applied' });
  });
});
