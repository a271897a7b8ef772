import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/logger.ts';
import { combinePlan } from '../../../src/policies/decisions/plan.ts';
import { createJudging } from '../../../src/policies/judging.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { aPolicy } from '../../support/policies.ts';
import { realOpa } from '../../support/real-opa.ts';

/** Together, these would be one package with two helpers of a name and two values for one rule. */
const strict = aPolicy({
  id: 'p1',
  name: 'strict',
  body: 'package slipway\n\nlimit := 1\n\ndeny contains sprintf("more than %d", [limit]) if input.count > limit\n',
});
const lax = aPolicy({
  id: 'p2',
  name: 'lax',
  body: 'package slipway\n\nlimit := 100\n\ndeny contains sprintf("more than %d", [limit]) if input.count > limit\n',
});

describe('two policies of one package', () => {
  it('know nothing of each other', async () => {
    using opa = realOpa();
    const judging = createJudging({
      engine: opa.engine,
      clock: manualClock(),
      logger: createLogger('silent'),
    });
    const { signal } = new AbortController();

    const judgements = await judging.judge('PLAN', [strict, lax], { count: 7 }, { signal });

    expect(judgements.map(({ policy, outcome, messages }) => [policy.name, outcome, messages])).toEqual([
      ['strict', 'denied', ['more than 1']],
      ['lax', 'passed', []],
    ]);
    expect(combinePlan(judgements)).toEqual({ outcome: 'denied', messages: ['strict: more than 1'] });
  });
});
