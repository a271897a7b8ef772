import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../src/policies/judgement.ts';
import { createRecording } from '../../src/policies/recording.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createFlagStore } from '../../src/storage/flag-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import type { Tx } from '../../src/tx.ts';
import { aRepository } from '../support/builders.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';
import { openRunWorld } from '../support/run-world.ts';

const tx: Tx = { afterCommit: () => undefined };
const about = { run: null, stack: { key: 'stack-1', repository: aRepository() }, subject: 'the plan' };

function world() {
  const done: string[] = [];
  const recording = createRecording({
    decisions: {
      packSample: async (input) => {
        done.push(`packed ${Buffer.from(input)}`);
        return { packed: input };
      },
      record: async (_, judgement, __, input) => {
        done.push(`recorded with ${input && Buffer.from(input.packed)}`);
        const { policy, ...said } = judgement;
        return { ...said, id: 'x', policy, kind: policy.kind, ...of, atMs: 0 };
      },
    },
    flags: { add: async () => undefined, reset: async () => undefined, of: async () => [] },
  });
  return { done, recording };
}

const of = { accountId: 11, stackKey: null, runId: null, subject: 'the plan' };

it('makes a sample small once, before the transaction that goes by it', async () => {
  const { done, recording } = world();
  const judgements = [aJudgement({ sample: true }), aJudgement(), aJudgement({ sample: true })];

  const record = await recording.prepare(judgements, { a: 1 }, about);

  expect(done).toEqual(['packed {"a":1}']);
  await record(tx);
  expect(done.slice(1)).toEqual(Array.from({ length: 3 }, () => 'recorded with {"a":1}'));
});

it('does not read an input of which nobody wants a sample', async () => {
  const { done, recording } = world();

  await (await recording.prepare([aJudgement()], { a: 1 }, about))(tx);

  expect(done).toEqual(['recorded with null']);
});

describe('flags of a run', () => {
  async function flagging() {
    const world = await openRunWorld();
    const stack = await world.addStack();
    const run = { id: await world.pushed('a1') };
    const flags = createFlagStore(world.database);
    const decisions = createDecisionStore(world.database, createSecretBox(Buffer.alloc(32, 7)), world);
    const recording = createRecording({ decisions, flags });
    const says = (policyId: string, add: string[], reset: string[] = []) =>
      aJudgement({ policy: aPolicy({ id: policyId }), flags: { add, reset } });
    return {
      says,
      flags: () => flags.of(run.id),
      async judged(...judgements: Judgement[]) {
        const record = await recording.prepare(judgements, {}, { run, stack, subject: 'the plan' });
        await world.database.write((tx) => record(tx));
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  it('stay until each policy that set one has reset it', async () => {
    await using world = await flagging();
    await world.judged(world.says('a', ['x']), world.says('b', ['x', 'y']));
    expect(await world.flags()).toEqual(['x', 'y']);
    await world.judged(world.says('a', [], ['x', 'y']));
    expect(await world.flags()).toEqual(['x', 'y']);
    await world.judged(world.says('b', [], ['x']));
    expect(await world.flags()).toEqual(['y']);
  });

  it('are there when a policy resets and adds one', async () => {
    await using world = await flagging();
    await world.judged(world.says('a', ['x']));
    await world.judged(world.says('a', ['x'], ['x']));
    expect(await world.flags()).toEqual(['x']);
  });

  it('do not depend on the order of the policies', async () => {
    for (const order of [0, 1]) {
      await using world = await flagging();
      const all = [world.says('a', ['x'], ['y']), world.says('b', ['y'], ['x'])];
      await world.judged(...(order === 0 ? all : all.toReversed()));
      expect(await world.flags()).toEqual(['x', 'y']);
    }
  });
});
