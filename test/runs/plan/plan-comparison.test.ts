import { describe, expect, it } from 'vitest';
import { comparePlans, planPrint, printDigest } from '../../../src/runs/plan/plan-comparison.ts';
import { fc } from '../../support/fast-check.ts';
import { recordedPlan, stackStep, step, urnOf } from './plan-steps.ts';

const compare = (earlier: readonly unknown[], later: readonly unknown[]) =>
  comparePlans(planPrint(earlier), planPrint(later));

describe('two plans of a stack', () => {
  it('differ by what one of them does not do, or does in another way', () => {
    const earlier = [
      stackStep,
      step('create', 'stays', null, { a: 1 }),
      step('update', 'other-value', { a: 1 }, { a: 2 }),
      step('update', 'other-op', { a: 1 }, { a: 2 }),
      step('delete', 'gone', { a: 1 }, null),
    ];
    const later = [
      step('create', 'new', null, { a: 1 }),
      step('delete', 'other-op', { a: 1 }, null),
      step('update', 'other-value', { a: 1 }, { a: 3 }),
      step('create', 'stays', null, { a: 1 }),
      stackStep,
    ];

    expect(compare(earlier, later)).toEqual({
      added: [urnOf('new')],
      gone: [urnOf('gone')],
      different: [urnOf('other-op'), urnOf('other-value')],
    });
  });

  it('do not differ by what they leave alone', () => {
    const update = (quiet: string) => [step('update', 'a', { size: 1, quiet }, { size: 2, quiet })];

    expect(compare(update('x'), update('y'))).toEqual({ added: [], gone: [], different: [] });
    expect(printDigest(planPrint(update('x')))).toBe(printDigest(planPrint(update('y'))));
  });

  it('tell null from what is not there', () => {
    const update = (now: object) => [step('update', 'a', { size: 1 }, now)];
    expect(compare(update({ size: null }), update({})).different).toEqual([urnOf('a')]);
  });

  it.each(['create', 'update', 'replace-create-first', 'component', 'drift'])(
    'are the same when the real tool plans %s twice',
    async (name) => {
      const [one, other] = [(await recordedPlan(name)).steps, (await recordedPlan(name)).steps];
      expect(compare(one, other)).toEqual({ added: [], gone: [], different: [] });
    },
  );

  const plan = fc.array(
    fc
      .tuple(
        fc.constantFrom('create', 'update', 'delete', 'create-replacement', 'delete-replaced', 'same'),
        fc.constantFrom('a', 'b', 'c', 'd'),
        fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
        fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
      )
      .map((each) => step(...each)),
    { maxLength: 8 },
  );

  it('are equal to themselves in any order, and differ the other way round backwards', () => {
    fc.assert(
      fc.property(plan, plan, (one, other) => {
        expect(compare(one, [...one].reverse())).toEqual({ added: [], gone: [], different: [] });
        const [there, back] = [compare(one, other), compare(other, one)];
        expect(back.added).toEqual(there.gone);
        expect(back.gone).toEqual(there.added);
        expect([...back.different].sort()).toEqual([...there.different].sort());
        const isSame = [there.added, there.gone, there.different].every(({ length }) => length === 0);
        expect(printDigest(planPrint(one)) === printDigest(planPrint(other))).toBe(isSame);
      }),
    );
  });
});
