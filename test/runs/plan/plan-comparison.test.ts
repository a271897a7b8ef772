import { describe, expect, it } from 'vitest';
import { comparePlans, planPrint, printDigest } from '../../../src/runs/plan/plan-comparison.ts';
import { fc } from '../../support/fast-check.ts';
import { recordedPlan, stackStep, step, urnOf } from './plan-steps.ts';

const compare = async (earlier: readonly unknown[], later: readonly unknown[]) =>
  comparePlans(await planPrint(earlier), await planPrint(later));
const digestOf = async (steps: readonly unknown[]) => printDigest(await planPrint(steps));

describe('two plans of a stack', () => {
  it('differ by what one of them does not do, or does in another way', async () => {
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

    expect(await compare(earlier, later)).toEqual({
      added: [urnOf('new')],
      gone: [urnOf('gone')],
      different: [urnOf('other-op'), urnOf('other-value')],
    });
  });

  it('do not differ by what they leave alone', async () => {
    const update = (quiet: string) => [step('update', 'a', { size: 1, quiet }, { size: 2, quiet })];

    expect(await compare(update('x'), update('y'))).toEqual({ added: [], gone: [], different: [] });
    expect(await digestOf(update('x'))).toBe(await digestOf(update('y')));
  });

  it('tell null from what is not there', async () => {
    const update = (now: object) => [step('update', 'a', { size: 1 }, now)];
    expect((await compare(update({ size: null }), update({}))).different).toEqual([urnOf('a')]);
  });

  it.each(['create', 'update', 'replace-create-first', 'component', 'drift'])(
    'are the same when the real tool plans %s twice',
    async (name) => {
      const [one, other] = [(await recordedPlan(name)).steps, (await recordedPlan(name)).steps];
      expect(await compare(one, other)).toEqual({ added: [], gone: [], different: [] });
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

  it('are equal to themselves in any order, and differ the other way round backwards', async () => {
    await fc.assert(
      fc.asyncProperty(plan, plan, async (one, other) => {
        expect(await compare(one, [...one].reverse())).toEqual({ added: [], gone: [], different: [] });
        const [there, back] = [await compare(one, other), await compare(other, one)];
        expect(back.added).toEqual(there.gone);
        expect(back.gone).toEqual(there.added);
        expect([...back.different].sort()).toEqual([...there.different].sort());
        const isSame = [there.added, there.gone, there.different].every(({ length }) => length === 0);
        expect((await digestOf(one)) === (await digestOf(other))).toBe(isSame);
      }),
    );
  });

  it('are looked through without holding up all else', async () => {
    const steps = Array.from({ length: 10_000 }, (_, n) => {
      const inputs = Object.fromEntries(Array.from({ length: 20 }, (_, each) => [`p${each}`, `${n}`]));
      return step('create', `name-${n}`, null, inputs);
    });
    let turns = 0;
    const print = planPrint(steps);
    const others = setInterval(() => (turns += 1), 0);
    await print;
    clearInterval(others);

    expect(turns).toBeGreaterThan(1);
  });
});
