import { describe, expect, it } from 'vitest';
import { changesDigestOf } from '../../src/runs/changes-digest.ts';
import { aCommit } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';

const run = { type: 'TRACKED', commit: aCommit({ hash: 'a1' }) } as const;
const step = (name: string, inputs: object = {}) => ({ op: 'create', urn: name, new: { inputs } });

describe('the digest of changes', () => {
  it('is that of any order of steps and of keys', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ op: fc.string(), new: fc.object() })), (steps) => {
        const turned = [...steps].reverse().map((one) => Object.fromEntries(Object.entries(one).reverse()));
        expect(changesDigestOf(run, turned)).toBe(changesDigestOf(run, steps));
      }),
    );
  });

  it.each([
    ['another commit', { ...run, commit: aCommit({ hash: 'b2' }) }, [step('a')]],
    ['another type of run', { ...run, type: 'PROPOSED' as const }, [step('a')]],
    ['another value', run, [step('a', { size: 2 })]],
    ['one step more', run, [step('a'), step('b')]],
    ['the same step twice', run, [step('a'), step('a')]],
    ['no step', run, []],
  ])('is another for %s', (_, of, steps) => {
    expect(changesDigestOf(of, steps)).not.toBe(changesDigestOf(run, [step('a')]));
  });
});
