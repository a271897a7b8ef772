import { describe, expect, test } from 'vitest';
import { hasChanges as hasChangesBy } from '../../../src/vendors/pulumi/changes.ts';
import { toDelta } from '../../../src/vendors/pulumi/delta.ts';
import type { StepEvent } from '../../../src/vendors/pulumi/event-log.ts';
import { parseSavedPlan } from '../../../src/vendors/pulumi/saved-plan.ts';
import { StepCollector, toPlanSteps } from '../../../src/vendors/pulumi/steps.ts';
import type { ResourceState } from '../../../src/worker/vendor-results.ts';

const urnOf = (name: string, type = 'pkg:index:Thing') => `urn:pulumi:dev::sample::${type}::${name}`;

function state(change: Partial<ResourceState> = {}): ResourceState {
  const defaults = {
    custom: true,
    id: '',
    inputs: {},
    outputs: {},
    parent: '',
    provider: '',
    type: 't',
    urn: urnOf('a'),
  };
  return { ...defaults, ...change };
}

function step(op: string, change: Partial<StepEvent> = {}): StepEvent {
  const defaults = {
    urn: urnOf('a'),
    type: 'pkg:index:Thing',
    provider: '',
    old: null,
    new: null,
    isUnchanged: true,
    replacedFor: [],
    isProtected: false,
  };
  return { op, ...defaults, ...change };
}

function collect(...actions: readonly ['begin' | 'complete', StepEvent][]): StepEvent[] {
  const collector = new StepCollector();
  for (const [action, event] of actions) collector[action](event);
  return collector.all();
}

describe('steps', () => {
  test('stand in the order in which they begin, with what their last event tells', () => {
    const create = step('create');
    const done = step('create', { new: state({ id: '1' }) });
    const withOutputs = step('create', { new: state({ id: '1', outputs: { a: 1 } }) });
    const other = step('same', { urn: urnOf('b') });
    expect(
      collect(
        ['begin', create],
        ['begin', other],
        ['complete', done],
        ['complete', other],
        ['complete', withOutputs],
      ),
    ).toEqual([withOutputs, other]);
  });

  test('of one URN are kept apart by op, and two leftovers of one URN by their ids', () => {
    const first = step('delete-replaced', { old: state({ id: '1' }) });
    const second = step('delete-replaced', { old: state({ id: '2' }) });
    const replace = step('replace', { old: state({ id: '2' }) });
    const firstDone = { ...first, provider: 'done' };
    expect(
      collect(
        ['begin', first],
        ['begin', second],
        ['begin', replace],
        ['complete', firstDone],
        ['complete', second],
      ),
    ).toEqual([firstDone, second, replace]);
  });

  test('that import have an old state only when they are done', () => {
    const done = step('import', { old: state({ id: '7' }), new: state({ id: '7' }) });
    expect(collect(['begin', step('import')], ['complete', done])).toEqual([done]);
  });

  test('whose end comes without a beginning are those of another operation', () => {
    expect(collect(['begin', step('same')], ['complete', step('update')])).toEqual([step('same')]);
  });

  test('leave default providers out, and only those', () => {
    const provider = (name: string) =>
      step('create', { urn: urnOf(name, 'pulumi:providers:aws'), type: 'pulumi:providers:aws' });
    const named = step('create', { urn: urnOf('default::x') });
    const kept = [provider('mine'), provider('eu::default'), named];
    const all = [provider('default'), provider('default_6_0_0'), ...kept];
    expect(collect(...all.map((event): ['begin', StepEvent] => ['begin', event]))).toEqual(kept);
  });

  test.each([
    ['same', 'same'],
    ['refresh', 'refresh'],
    ['create', 'create'],
    ['update', 'update'],
    ['delete', 'delete'],
    ['create-replacement', 'create-replacement'],
    ['delete-replaced', 'delete-replaced'],
    ['import', 'create'],
    ['import-replacement', 'create-replacement'],
    ['read', 'same'],
    ['read-replacement', 'same'],
    ['discard', 'delete'],
    ['discard-replaced', 'delete-replaced'],
  ])('called %s by Pulumi are called %s by the specification', (pulumi, specified) => {
    const { steps } = toPlanSteps([step(pulumi)]) as { steps: object[] };
    expect(steps).toEqual([
      { op: specified, provider: '', type: 'pkg:index:Thing', urn: urnOf('a'), new: null, old: null },
    ]);
  });

  test('that are markers only are dropped', () => {
    for (const op of ['replace', 'remove-pending-replace', 'extend-parameterize']) {
      expect(toPlanSteps([step(op)])).toEqual({ steps: [] });
    }
  });

  test('of an unknown kind make the plan unreadable', () => {
    for (const op of ['diff', 'migrate', '', 'constructor']) {
      expect(toPlanSteps([step('same'), step(op)])).toEqual({ unknownOp: op });
    }
  });
});

describe('nothing to change', () => {
  const hasChanges = (steps: StepEvent[]) => hasChangesBy(steps, null);

  test('means that nothing but looking and comparing happens, and all is equal', () => {
    expect(hasChanges([])).toBe(false);
    expect(hasChanges([step('same'), step('refresh', { isUnchanged: false }), step('read')])).toBe(false);
  });

  test.each([
    'create',
    'update',
    'delete',
    'replace',
    'delete-replaced',
    'import',
    'discard',
    'remove-pending-replace',
  ])('is not what a step %s is', (op) => expect(hasChanges([step('same'), step(op)])).toBe(true));

  test('is not what a plan with other inputs or outputs is, those of default providers apart', () => {
    const diff = { updates: { size: 1 } };
    const plan = (urn: string, goal: object) =>
      hasChangesBy([], parseSavedPlan(JSON.stringify({ resourcePlans: { [urn]: { goal } } })));
    expect(plan(urnOf('a'), { inputDiff: diff })).toBe(true);
    expect(plan(urnOf('a'), { outputDiff: { deletes: ['size'] } })).toBe(true);
    expect(plan(urnOf('a'), { inputDiff: { adds: {} }, outputDiff: {} })).toBe(false);
    expect(plan(urnOf('default', 'pulumi:providers:aws'), { inputDiff: diff })).toBe(false);
    expect(hasChangesBy([], { resourcePlans: { [urnOf('a')]: {} } })).toBe(false);
    expect(hasChangesBy([], {})).toBe(false);
  });

  test.each(['same', 'read', 'read-replacement'])('is not what a %s with another state is', (op) => {
    expect(hasChanges([step(op, { isUnchanged: false })])).toBe(true);
  });
});

describe('the delta', () => {
  const delta = (resourceChanges: Record<string, number>, steps: StepEvent[] = []) =>
    toDelta({ isPreview: true, result: 'succeeded', resourceChanges }, steps);

  test('counts a replacement as one added and one deleted', () => {
    const counts = { same: 7, create: 1, update: 2, delete: 4, replace: 8 };
    expect(delta(counts)).toEqual({ added: 9, changed: 2, deleted: 12, resources: 18 });
    expect(delta({})).toEqual({ added: 0, changed: 0, deleted: 0, resources: 0 });
  });

  test('counts an import as added and what is only read or forgotten not at all, as the summary does', () => {
    expect(delta({ import: 2, read: 1, discard: 1 })).toEqual({
      added: 2,
      changed: 0,
      deleted: 0,
      resources: 2,
    });
  });

  test('counts the leftover of a failed replacement as deleted', () => {
    const leftover = step('delete-replaced', { urn: urnOf('old') });
    const pair = [step('replace', { old: state() }), step('delete-replaced')];
    expect(delta({ same: 1 }, [leftover]).deleted).toBe(1);
    expect(delta({ replace: 1 }, pair).deleted).toBe(1);
    expect(delta({ replace: 1 }, [...pair, step('delete-replaced'), leftover]).deleted).toBe(3);
  });

  test('knows a replaced resource under the name it had before its alias', () => {
    const renamed = step('replace', { urn: urnOf('new'), old: state({ urn: urnOf('old') }) });
    expect(delta({ replace: 1 }, [renamed, step('delete-replaced', { urn: urnOf('old') })]).deleted).toBe(1);
  });
});
