import { describe, expect, it } from 'vitest';
import type { RunType } from '../../src/runs/run.ts';
import {
  type RunHalf,
  rightsOf,
  type Trust,
  trustOfCommand,
  trustOfRun,
  trusts,
  visibleVariables,
} from '../../src/runs/trust.ts';
import type { EnvironmentAccess, EnvironmentVariable } from '../../src/stacks/environment.ts';
import { fc } from '../support/fast-check.ts';

const types = ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] as const satisfies RunType[];
const halves = ['plan', 'apply'] as const satisfies RunHalf[];
const accesses = ['all', 'tracked', 'apply'] as const satisfies EnvironmentAccess[];

const variable = (access: EnvironmentAccess, secret: boolean): EnvironmentVariable => {
  const name = `${access}-${secret ? 'secret' : 'plain'}`;
  return { name, value: 'some value', access, secret };
};
const everyVariable = accesses.flatMap((access) => [variable(access, false), variable(access, true)]);

describe('the trust of a command', () => {
  it.each<[RunType, plan: Trust, apply: Trust, shown: Trust]>([
    // A preview never gets to the second half; if it did, it would get no more.
    ['PROPOSED', 'branch', 'branch', 'branch'],
    ['TRACKED', 'tracked', 'apply', 'tracked'],
    ['DESTROY', 'tracked', 'apply', 'tracked'],
    ['TASK', 'tracked', 'apply', 'apply'],
  ])('of a %s run is %s, then %s; the run shows %s', (type, plan, apply, shown) => {
    for (const trusted of [{ type }, { type, isUntrusted: false }]) {
      expect(halves.map((half) => trustOfCommand(trusted, half))).toEqual([plan, apply]);
      expect(trustOfRun(trusted)).toBe(shown);
    }
  });

  it.each(types)('of a %s run of what nobody vouches for is untrusted throughout', (type) => {
    const run = { type, isUntrusted: true };
    expect([...halves.map((half) => trustOfCommand(run, half)), trustOfRun(run)]).toEqual(
      Array(3).fill('untrusted'),
    );
  });
});

describe('what follows from it', () => {
  const plain = (...of: EnvironmentAccess[]) => of.map((access) => `${access}-plain`);
  const both = (...of: EnvironmentAccess[]) =>
    of.flatMap((access) => [`${access}-plain`, `${access}-secret`]);

  it.each<[Trust, seen: string[]]>([
    ['untrusted', plain('all')],
    ['branch', both('all')],
    ['tracked', both('all', 'tracked')],
    ['apply', both('all', 'tracked', 'apply')],
  ])('%s sees %j', (trust, seen) => {
    expect(visibleVariables(everyVariable, trust).map(({ name }) => name)).toEqual(seen);
  });

  it.each<[Trust, shares: boolean, inClear: boolean, network: 'listed' | 'all']>([
    ['untrusted', false, false, 'listed'],
    ['branch', false, true, 'all'],
    ['tracked', true, true, 'all'],
    ['apply', true, true, 'all'],
  ])('%s works on the cache and the state themselves: %s', (trust, shares, inClear, network) => {
    expect(rightsOf(trust)).toMatchObject({
      ...{ sharesCache: shares, sharesState: shares, seesStateInClear: inClear, network },
    });
  });

  const someVariables = fc.array(
    fc.record({
      name: fc.string(),
      value: fc.string(),
      secret: fc.boolean(),
      access: fc.constantFrom(...accesses),
    }),
  );
  const someRun = fc.record({ type: fc.constantFrom(...types), isUntrusted: fc.boolean() });
  const someCommand = fc.tuple(someRun, fc.constantFrom(...halves));

  it('never is more for a command that is trusted less', () => {
    fc.assert(
      fc.property(someVariables, someCommand, someCommand, (variables, one, other) => {
        const [less, more] = [trustOfCommand(...one), trustOfCommand(...other)].toSorted(
          (a, b) => trusts.indexOf(a) - trusts.indexOf(b),
        ) as [Trust, Trust];
        const seen = new Set(visibleVariables(variables, more));
        expect(visibleVariables(variables, less).filter((each) => !seen.has(each))).toEqual([]);
        for (const right of ['hasSecrets', 'sharesCache', 'sharesState', 'seesStateInClear'] as const) {
          expect(Number(rightsOf(less)[right])).toBeLessThanOrEqual(Number(rightsOf(more)[right]));
        }
      }),
    );
  });

  it('never is a secret for what nobody vouches for, whatever its access', () => {
    fc.assert(
      fc.property(someVariables, fc.constantFrom(...types), fc.constantFrom(...halves), (all, type, half) => {
        const seen = visibleVariables(all, trustOfCommand({ type, isUntrusted: true }, half));
        expect(seen.filter(({ secret }) => secret)).toEqual([]);
      }),
    );
  });
});
