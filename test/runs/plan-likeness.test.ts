import { describe, expect, test } from 'vitest';
import { likenessOf } from '../../src/runs/plan-likeness.ts';
import { readPlan } from '../../src/vendors/pulumi/readings.ts';
import { outputsOf, recording } from '../vendors/pulumi/recordings.ts';
import { addressStep } from './plan/terraform-steps.ts';

/** A plan that the real pulumi made, as it would be for a stack of that name. */
async function planFor(toolStack: string, name = 'update', change = (events: string) => events) {
  const one = recording(name);
  const events = (one.events ?? '')
    .replaceAll('urn:pulumi:dev::', `urn:pulumi:${toolStack}::`)
    .replaceAll('sample-dev', `sample-${toolStack}`);
  const result = await readPlan(outputsOf(one, { events: change(events) }));
  if (result.kind !== 'planned') throw new Error(result.message);
  return result;
}

const step = (change: object = {}) => ({
  ...{ op: 'update', type: 'pkg:index:Thing', urn: 'urn:pulumi:dev::shop::pkg:index:Thing::a' },
  provider: 'urn:pulumi:dev::shop::pulumi:providers:pkg::default::0a1b',
  old: state({ inputs: { size: 1 } }),
  new: state({ inputs: { size: 2 } }),
  ...change,
});
const state = (change: object = {}) => ({
  ...{ custom: true, id: 'a-1', inputs: {}, outputs: {}, type: 'pkg:index:Thing' },
  ...{ parent: 'urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev', provider: '', urn: '' },
  ...change,
});
const of = (...steps: object[]) => likenessOf({ hasChanges: true, steps });

describe('the likeness of plans', () => {
  test.each(['create', 'update', 'delete', 'replace-create-first', 'component', 'output-only', 'no-change'])(
    'is the same for two stacks of one program: %s',
    async (name) => {
      const [dev, prod] = await Promise.all([planFor('dev', name), planFor('prod', name)]);

      expect(dev.steps).not.toEqual(prod.steps);
      expect(likenessOf(prod)).toMatch(/^[0-9a-f]{64}$/);
      expect(likenessOf(prod)).toBe(likenessOf(dev));
    },
  );

  test('tells apart what real plans change', async () => {
    const names = ['create', 'update', 'delete', 'rename', 'output-only', 'no-change'];
    const likenesses = await Promise.all(names.map(async (name) => likenessOf(await planFor('dev', name))));

    expect(new Set(likenesses).size).toBe(names.length);
  });

  test.each([
    ['another value', { new: state({ inputs: { size: 3 } }) }],
    ['another value before', { old: state({ inputs: { size: 0 } }) }],
    ['another operation', { op: 'create-replacement' }],
    ['another resource', { urn: 'urn:pulumi:dev::shop::pkg:index:Thing::b' }],
    ['another project', { urn: 'urn:pulumi:dev::other::pkg:index:Thing::a' }],
    ['another type', { type: 'pkg:index:Other' }],
    ['another provider', { provider: 'urn:pulumi:dev::shop::pulumi:providers:pkg::own::0a1b' }],
    ['another parent', { new: state({ inputs: { size: 2 }, parent: '' }) }],
    ['a value that is the name of a stack', { new: state({ inputs: { size: 'prod' } }) }],
  ])('tells apart %s', (_, change) => {
    expect(of(step(change))).not.toBe(of(step()));
  });

  test.each([
    ['ids and outputs', { old: state({ id: 'a-2', inputs: { size: 1 }, outputs: { arn: 'x' } }) }],
    ['the id of a provider', { provider: 'urn:pulumi:prod::shop::pulumi:providers:pkg::default::9f9f' }],
    ['the stack in the URN of a parent', { new: state({ inputs: { size: 2 }, parent: rootOf('prod') }) }],
  ])('does not regard %s', (_, change) => {
    expect(of(step(change))).toBe(of(step()));
  });

  test('regards neither the order of steps nor those that change nothing', () => {
    const other = step({ urn: 'urn:pulumi:dev::shop::pkg:index:Thing::b' });
    const kept = step({ op: 'same', old: state(), new: state() });

    expect(of(other, step(), kept, step({ op: 'refresh' }))).toBe(of(step(), other));
    expect(of(step(), step())).not.toBe(of(step()));
  });

  test('tells apart from where a resource of Terraform moves, whatever it is', () => {
    const moved = (from: string) => addressStep('same', 'module.a.terraform_data.b', {}, {}, { from });

    expect(of(moved('terraform_data.b'))).toMatch(/^[0-9a-f]{64}$/);
    expect(of(moved('terraform_data.b'))).not.toBe(of(moved('terraform_data.c')));
  });

  test('is none when the steps do not show what changes', () => {
    expect(of(step({ op: 'same', old: state(), new: state() }))).toBeNull();
    expect(likenessOf({ hasChanges: false, steps: [] })).toMatch(/^[0-9a-f]{64}$/);
  });
});

function rootOf(toolStack: string): string {
  return `urn:pulumi:${toolStack}::shop::pulumi:pulumi:Stack::shop-${toolStack}`;
}
