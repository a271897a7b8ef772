import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../src/runs/plan/plan-changes.ts';
import { comparePlans, planPrint, printDigest } from '../../../src/runs/plan/plan-comparison.ts';
import { unknownText } from '../../../src/runs/plan/plan-value.ts';
import { propertyViews } from '../../../src/runs/plan/property-view.ts';
import { addressStep, rootOutputs } from './terraform-steps.ts';

const shown = (steps: readonly unknown[]) => [...changesOf(steps)].map(({ op, urn }) => `${op} ${urn}`);
const one = 'module.net.terraform_data.a["x"]';

describe('what a plan of Terraform changes', () => {
  it('goes by the address, without what is only read or was found to have drifted', () => {
    const steps = [
      addressStep('same', 'data.local_file.a', null, { filename: 'x' }),
      addressStep('refresh', 'terraform_data.drifted', { input: 'a' }, { input: 'b' }),
      addressStep('create', one, null, { input: 'a' }),
    ];

    expect([...changesOf(steps)]).toEqual([
      {
        ...{ op: 'create', urn: one, name: one, type: 'terraform_data', movedFrom: null },
        ...{ old: {}, new: { input: 'a' } },
      },
    ]);
  });

  it.each([
    ['delete first', ['delete-replaced', 'create-replacement'] as const],
    ['create first', ['create-replacement', 'delete-replaced'] as const],
  ])('has a replacement once: %s', (_, ops) => {
    const halves = ops.map((op) =>
      addressStep(op, one, { input: 'a' }, op === 'delete-replaced' ? null : { input: 'b' }),
    );

    expect(shown(halves)).toEqual([`replace ${one}`]);
  });

  it('deletes a deposed object, beside what is done to the one that took its place', () => {
    const deposed = addressStep('delete-replaced', one, { input: 'a' }, null);
    const update = addressStep('update', one, { input: 'a' }, { input: 'b' });

    expect(shown([deposed])).toEqual([`delete ${one}`]);
    expect(shown([update, deposed])).toEqual([`update ${one}`, `delete ${one}`]);
  });

  it('deletes a deposed object beside the replacement of the one that took its place', () => {
    const withId = (op: 'create-replacement' | 'delete-replaced', id: string, input: string) => {
      const step = addressStep(op, one, { input }, op === 'delete-replaced' ? null : { input: 'c' });
      return { ...step, old: { ...(step.old as object), id } };
    };
    const replaced = [withId('create-replacement', 'i-2', 'b'), withId('delete-replaced', 'i-2', 'b')];
    const deposed = withId('delete-replaced', 'i-1', 'a');

    for (const steps of [
      [...replaced, deposed],
      [deposed, ...replaced],
    ]) {
      expect(shown(steps).sort()).toEqual([`delete ${one}`, `replace ${one}`]);
      expect([...changesOf(steps)].find(({ op }) => op === 'delete')?.old).toEqual({ input: 'a' });
    }
  });

  it('says what is moved, alone and with another change', () => {
    const from = 'terraform_data.a';
    const moves = [
      addressStep('same', one, { input: 'a' }, { input: 'a' }, { from }),
      addressStep('update', one, { input: 'a' }, { input: 'b' }, { from }),
    ];

    expect([...changesOf(moves)].map(({ op, movedFrom }) => [op, movedFrom])).toEqual([
      ['move', from],
      ['update', from],
    ]);
  });

  it('has one entry for all outputs', () => {
    expect(shown([rootOutputs({ a: 1 }, { a: 1 })])).toEqual([]);
    expect(shown([rootOutputs({ a: 1 }, { a: 1, b: unknownText })])).toEqual(['outputs outputs']);
  });

  it('tells of values that nobody knows yet', () => {
    const { items } = propertyViews({ a: 'x', b: [1] }, { a: unknownText, b: [unknownText] });

    expect(items).toEqual([
      { path: 'a', old: 'x', isUnknown: true },
      { path: 'b[0]', old: 1, isUnknown: true },
    ]);
  });

  it('is another one when something is moved from elsewhere', async () => {
    const print = (from: string) => planPrint([addressStep('same', one, {}, {}, { from })]);
    const [first, second] = [await print('terraform_data.a'), await print('terraform_data.b')];

    expect(comparePlans(first, second)).toEqual({ added: [], gone: [], different: [one] });
    expect(printDigest(first)).not.toBe(printDigest(second));
  });
});
