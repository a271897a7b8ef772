import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/**
 * A commit that is not merged may be deployed only if it contains what the stack has: else a branch that is behind
 * would undo what others deployed. What GitHub has to be asked for that is asked here; the answer is to be looked at
 * in the transaction that makes the run: the run of what is missing, null when nothing is. Rejects when GitHub cannot be
 * asked: try again.
 */
export async function askWhatIsMissing(
  parts: { readonly runs: Pick<RunStore, 'newestFinished'>; readonly source: Pick<Source, 'compare'> },
  stack: Stack,
  commit: string,
): Promise<(tx: Tx) => Promise<Run | null>> {
  const { runs, source } = parts;
  const compared = await runs.newestFinished(stack.key, 'TRACKED');
  const relation = compared && (await source.compare(stack.repository, compared.commit.hash, commit));
  const isContained = relation === 'ahead' || relation === 'identical';
  return async (tx) => {
    const deployed = await runs.newestFinished(stack.key, 'TRACKED', tx);
    // What finished in this very moment was not compared: nothing is known of it but that it is newer.
    return isContained && deployed?.commit.hash === compared?.commit.hash ? null : deployed;
  };
}
