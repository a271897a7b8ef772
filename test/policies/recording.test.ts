import { expect, it } from 'vitest';
import { createRecording } from '../../src/policies/recording.ts';
import type { Tx } from '../../src/tx.ts';
import { aRepository } from '../support/builders.ts';
import { aJudgement } from '../support/policies.ts';

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
