import type { FlagStore } from '../runs/flags.ts';
import type { Run } from '../runs/run.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import { jsonBytes } from './json-bytes.ts';
import type { Judgement } from './judgement.ts';
import type { DecisionStore, PackedSample } from './policy-store.ts';

/** Writes down what policies said of something, and what they noted about its run. */
export interface Recording {
  /** Outside of any transaction: the work on a large input. What it gives is called in the one that goes by it. */
  prepare(judgements: readonly Judgement[], input: unknown, about: JudgedThing): Promise<WriteDown>;
}

/**
 * `made`: the id of the run that follows from it, where it was not about a run. `messageOf`: a message with what came
 * of it, where that is known in the transaction only.
 */
export type WriteDown = (
  tx: Tx,
  made?: string | null,
  messageOf?: (message: string, by: Judgement) => string,
) => Promise<void>;

interface JudgedThing {
  readonly run: Pick<Run, 'id'> | null;
  readonly stack: Pick<Stack, 'key' | 'repository'>;
  /** In words: "the plan". */
  readonly subject: string;
}

export function createRecording(parts: {
  decisions: Pick<DecisionStore, 'record' | 'packSample'>;
  flags: FlagStore;
}): Recording {
  const { decisions, flags } = parts;

  async function note(tx: Tx, runId: string, judgements: readonly Judgement[]): Promise<void> {
    // What one policy takes away, another may set at the same time: then it is set.
    for (const { policy, flags: said } of judgements) await flags.reset(tx, runId, policy.id, said.reset);
    for (const { policy, flags: said } of judgements) await flags.add(tx, runId, policy.id, said.add);
  }

  return {
    async prepare(judgements, input, { run, stack, subject }) {
      const packed = await packedSample(decisions, judgements, input);
      const { accountId } = stack.repository;
      return async (tx, made = null, messageOf = (message) => message) => {
        const runId = run?.id ?? made;
        const about = { accountId, stackKey: stack.key, runId, subject };
        for (const judgement of judgements) {
          const messages = judgement.messages.map((message) => messageOf(message, judgement));
          await decisions.record(tx, { ...judgement, messages }, about, packed);
        }
        if (runId !== null) await note(tx, runId, judgements);
      };
    },
  };
}

/** For all of them, where one asks for it: a large input is worked on once, and not while others wait to write. */
export async function packedSample(
  decisions: Pick<DecisionStore, 'packSample'>,
  judgements: readonly Judgement[],
  input: unknown,
): Promise<PackedSample | null> {
  if (!judgements.some(({ sample }) => sample)) return null;
  const bytes = await jsonBytes(input);
  return bytes && decisions.packSample(bytes);
}
