import { expect, test } from 'vitest';
import { createPlanJudge } from '../../src/policies/plan-judge.ts';
import type { Policy } from '../../src/policies/policy.ts';
import type { Tx } from '../../src/tx.ts';
import { aRun, aStack } from '../support/builders.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';

const [one, other] = [aPolicy({ id: 'p1', name: 'a' }), aPolicy({ id: 'p2', name: 'b' })];
const delta = { added: 1, changed: 0, deleted: 0, resources: 1 };

function opened(before: readonly Policy[]) {
  const recorded: string[] = [];
  let present = before;
  const judge = createPlanJudge({
    policies: { ofStack: async () => present },
    overrides: { find: async () => null },
    planInputs: { of: () => Promise.resolve({} as never) },
    judging: { judge: async (_, policies) => policies.map((policy) => aJudgement({ policy })) },
    recording: {
      prepare: async (judgements) => async () =>
        void recorded.push(...judgements.map(({ policy }) => policy.id)),
    },
  });
  const about = { run: aRun(), stack: aStack(), hasChanges: true, delta, steps: [], custom: {} };
  return {
    recorded,
    judge: () => judge.judge(about, new AbortController().signal),
    change: (now: readonly Policy[]) => {
      present = now;
    },
  };
}

const tx = {} as Tx;

test('what was said counts while the same policies judge the stack', async () => {
  const world = opened([one, other]);
  const verdict = await world.judge();

  expect(await verdict.settle(tx)).toBe(true);
  expect(verdict.outcome).toBe('denied');
  expect(world.recorded).toEqual(['p1', 'p2']);
});

test.each<[string, before: readonly Policy[], now: readonly Policy[]]>([
  ['the first one came', [], [one]],
  ['another one came', [one], [one, other]],
  ['one has another version', [one], [{ ...one, version: 2 }]],
  ['one went', [one, other], [other]],
])('it does not when meanwhile %s', async (_, before, now) => {
  const world = opened(before);
  const verdict = await world.judge();
  world.change(now);

  expect(await verdict.settle(tx)).toBe(false);
  expect(world.recorded).toEqual([]);
});
