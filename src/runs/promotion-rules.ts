import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import { askWhatIsMissing, lacksText } from './deploy-rules.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/**
 * Why a commit of another branch must not be deployed, although the stack has promotion; null when it may be. What
 * GitHub has to be asked is asked here, the answer is to be looked at in the transaction that makes the run. Rejects when
 * GitHub cannot be asked: try again.
 */
export async function askBeforePromotion(
  parts: {
    readonly runs: Pick<RunStore, 'newestFinished' | 'unfinished' | 'newestOfCommit'>;
    readonly source: Pick<Source, 'compare'>;
  },
  stack: Stack,
  commit: string,
): Promise<(tx: Tx) => Promise<string | null>> {
  const whatIsMissing = await askWhatIsMissing(parts, stack, commit);
  return async (tx) => {
    const preview = await parts.runs.newestOfCommit(stack.key, 'PROPOSED', commit, 'any', tx);
    if (preview?.isUntrusted) return `its preview ${preview.id} had to do without secrets`;
    const missing = await whatIsMissing(tx);
    return missing && lacksText(commit, missing);
  };
}
