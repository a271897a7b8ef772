import { describe, expect, test } from 'vitest';
import type { StepEvent } from '../../../src/vendors/pulumi/event-log.ts';
import type { Operation } from '../../../src/vendors/pulumi/operation.ts';
import { differences, violations } from '../../../src/vendors/pulumi/violation.ts';
import type { PlanStep, ResourceState } from '../../../src/worker/vendor-results.ts';

const urnOf = (name: string) => `urn:pulumi:dev::sample::pkg:index:Thing::${name}`;

function state(name: string, inputs: Record<string, unknown>, id = `id of ${name}`): ResourceState {
  const rest = { custom: true, outputs: {}, parent: '', provider: '', type: 'pkg:index:Thing' };
  return { ...rest, id, inputs, urn: urnOf(name) };
}

function step(op: PlanStep['op'], name: string, inputs: Record<string, unknown> = {}, id?: string): PlanStep {
  const now = state(name, inputs, id);
  const [old, next] = op === 'delete' || op === 'delete-replaced' ? [now, null] : [now, now];
  return { op, provider: '', type: 'pkg:index:Thing', urn: urnOf(name), old, new: next };
}

const event = (given: PlanStep): StepEvent => ({
  ...given,
  isUnchanged: true,
  replacedFor: [],
  isProtected: false,
});

function operation(message: string, urn = '', steps: readonly PlanStep[] = []): Operation {
  const nothing = { failedSteps: [], violatedPolicies: [], summary: null, broken: null };
  return { ...nothing, steps: steps.map(event), errors: [{ urn, message }] };
}

const told = (message: string, confirmed: readonly PlanStep[] = [], steps: readonly PlanStep[] = []) =>
  violations('', operation(message, urnOf('a'), steps), confirmed);

describe('a violation', () => {
  test.each([
    [
      `resource ${urnOf('a')} violates plan: properties changed: ~~size[{2}!={99}]`,
      'properties changed (size)',
    ],
    [`resource ${urnOf('a')} violates plan: properties changed: =-size`, 'properties changed (size)'],
    ['resource violates plan: properties changed: =+address[{10.0.0.1}]', 'outputs changed (address)'],
    [`resource ${urnOf('a')} violates plan: parent changed (expected ${urnOf('b')})`, 'parent changed'],
    [`resource ${urnOf('a')} violates plan: protect changed (expected true)`, 'protect changed'],
    [
      `resource ${urnOf('a')} violates plan: deleteBeforeReplace changed (expected no value)`,
      'deleteBeforeReplace changed',
    ],
    [`resource ${urnOf('a')} violates plan: create timeout changed (expected 5)`, 'create timeout changed'],
    [
      `resource ${urnOf('a')} violates plan: dependencies changed: added ${urnOf('b')}`,
      'dependencies changed',
    ],
    [
      `resource ${urnOf('a')} violates plan: dependencies for size changed: added x`,
      'dependencies for size changed',
    ],
    [`resource ${urnOf('a')} violates plan: resource unexpectedly not deleted`, 'is no longer deleted'],
    [`resource ${urnOf('a')} violates plan: 7 of something new`, 'differs from the plan'],
    [
      'replace is not allowed by the plan: this resource is constrained to update',
      'replace instead of update',
    ],
    ['update is not allowed by the plan: no steps were expected for this resource', 'update was not planned'],
    [
      'create is not allowed by the plan: no more steps were expected for this resource',
      'create was not planned',
    ],
    [
      `expected resource operations for ${urnOf('a')} but none were seen`,
      'was planned and is not wanted any more',
    ],
  ])('%s', (message, difference) => {
    expect(told(`${message}\n`)).toEqual([`a (pkg:index:Thing): ${difference}`]);
  });

  test('names further properties only where the plan or the state knows them: a value may look like one', () => {
    const message = `resource ${urnOf('a')} violates plan: properties changed: =~size[{x], ~~hunter2[}], ~~tags[{y}]`;
    expect(told(message)).toEqual(['a (pkg:index:Thing): properties changed (size)']);
    expect(told(message, [step('update', 'a', { size: 1, tags: 2 })])).toEqual([
      'a (pkg:index:Thing): properties changed (size, tags)',
    ]);
    expect(told(message, [step('update', 'b', { tags: 2 })], [step('refresh', 'a', { tags: 1 })])).toEqual([
      'a (pkg:index:Thing): properties changed (size, tags)',
    ]);
  });

  test('shows nothing of values over several lines', () => {
    const message = `resource ${urnOf('a')} violates plan: properties changed: ~~key[{-----BEGIN\nhunter2\n}!={x}]`;
    expect(told(message)).toEqual(['a (pkg:index:Thing): properties changed (key)']);
  });

  test('by a deletion that Pulumi does not name is one by what the program no longer asks for', () => {
    const message = 'delete is not allowed by the plan: this resource is constrained to same';
    const gone = { ...step('refresh', 'gone'), new: null };
    const seen = [step('refresh', 'a'), step('refresh', 'b'), step('refresh', 'c'), gone, step('same', 'a')];
    expect(violations('', operation(message, '', seen), [step('delete', 'c')])).toEqual([
      'b (pkg:index:Thing): delete instead of same',
    ]);
    expect(violations('', operation(message, ''))).toEqual(['a resource: delete instead of same']);
  });
});

test('what a failed operation did not come to is no violation of its plan', () => {
  const unseen = (name: string) => `expected resource operations for ${urnOf(name)} but none were seen`;
  const text = `error: the disk is full\nerror: ${unseen('a')}\nerror: ${unseen('b')}\n`;
  const failed = operation('the disk is full\n', urnOf('a'));
  const errors = [...failed.errors, { urn: urnOf('b'), message: `${unseen('b')}\n` }];
  expect(violations(text, { ...failed, errors })).toEqual([]);
  const stuck = { ...operation(unseen('a')), failedSteps: [{ urn: urnOf('a'), op: 'create' }] };
  expect(violations(text, stuck)).toEqual([]);
});

describe('the plans of a tear-down', () => {
  test('differ in nothing when they do the same, in whatever order and whatever is looked at', () => {
    const confirmed = [step('refresh', 'a'), step('delete', 'a'), step('delete', 'b')];
    expect(differences(confirmed, [step('delete', 'b'), step('delete', 'a'), step('same', 'c')])).toEqual([]);
    expect(differences([], [])).toEqual([]);
  });

  test('differ by what came, what went, and what was made anew under its old name', () => {
    const confirmed = [step('delete', 'a'), step('delete', 'b'), step('delete', 'c', {}, 'first')];
    const now = [step('delete', 'b'), step('delete', 'c', {}, 'second'), step('delete', 'd')];
    expect(differences(confirmed, now)).toEqual([
      'c (pkg:index:Thing): delete was not planned',
      'd (pkg:index:Thing): delete was not planned',
      'a (pkg:index:Thing): delete was planned and is not wanted any more',
      'c (pkg:index:Thing): delete was planned and is not wanted any more',
    ]);
  });

  test('are counted: a second leftover of one resource is one more', () => {
    const left = step('delete-replaced', 'a', {}, 'same id');
    expect(differences([left], [left, left])).toHaveLength(1);
    expect(differences([left, left], [left])).toHaveLength(1);
  });
});
