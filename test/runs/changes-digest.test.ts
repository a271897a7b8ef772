import { describe, expect, it } from 'vitest';
import { changesDigestOf } from '../../src/runs/changes-digest.ts';
import { aCommit } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';

const run = { type: 'TRACKED', commit: aCommit({ hash: 'a1' }) } as const;
const step = (name: string, inputs: object = {}) => ({ op: 'create', urn: name, new: { inputs } });

describe('the digest of changes', () => {
  it('is that of any order of steps and of keys', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ op: fc.string(), new: fc.object() })), async (steps) => {
        const turned = [...steps].reverse().map((one) => Object.fromEntries(Object.entries(one).reverse()));
        expect(await changesDigestOf(run, turned)).toBe(await changesDigestOf(run, steps));
      }),
    );
  });

  it('lets others go on while it is worked out', async () => {
    const inputs = Object.fromEntries(
      Array.from({ length: 20 }, (_, key) => [`key${99 - key}`, { b: 1, a: 2 }]),
    );
    const steps = Array.from({ length: 2000 }, (_, index) => step(`urn ${index}`, inputs));
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    });
    await changesDigestOf(run, steps);
    clearInterval(others);
    expect(turns).toBeGreaterThan(0);
  });

  it.each([
    ['another commit', { ...run, commit: aCommit({ hash: 'b2' }) }, [step('a')]],
    ['another type of run', { ...run, type: 'PROPOSED' as const }, [step('a')]],
    ['another value', run, [step('a', { size: 2 })]],
    ['one step more', run, [step('a'), step('b')]],
    ['the same step twice', run, [step('a'), step('a')]],
    ['no step', run, []],
  ])('is another for %s', async (_, of, steps) => {
    expect(await changesDigestOf(of, steps)).not.toBe(await changesDigestOf(run, [step('a')]));
  });
});
