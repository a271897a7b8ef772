import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/**
 * A commit that is not merged may be deployed only if it contains what the stack has, or is about to get: else a branch
 * that is behind would undo what others deploy. What GitHub has to be asked for that is asked here; the answer is to be
 * looked at in the transaction that makes the run: the run of what is missing, null when nothing is. Rejects when GitHub
 * cannot be asked: try again.
 */
export async function askWhatIsMissing(
  parts: {
    readonly runs: Pick<RunStore, 'newestFinished' | 'unfinished'>;
    readonly source: Pick<Source, 'compare'>;
  },
  stack: Stack,
  commit: string,
): Promise<(tx: Tx) => Promise<Run | null>> {
  const { runs, source } = parts;

  async function deployments(tx?: Tx): Promise<readonly Run[]> {
    const done = await runs.newestFinished(stack.key, 'TRACKED', tx);
    const coming = (await runs.unfinished(stack.key, tx)).filter(({ type }) => type === 'TRACKED');
    return [...(done ? [done] : []), ...coming];
  }

  const contained = new Set<string>();
  for (const hash of new Set((await deployments()).map((run) => run.commit.hash))) {
    const relation = await source.compare(stack.repository, hash, commit);
    if (relation === 'ahead' || relation === 'identical') contained.add(hash);
  }
  // What came in this very moment was not compared: nothing is known of it but that it is newer.
  return async (tx) => (await deployments(tx)).find((run) => !contained.has(run.commit.hash)) ?? null;
}

/** The same for a run that is to be made once more. What takes commits of the stack's own branch undoes by intent. */
export async function askBeforeRetry(
  parts: Parameters<typeof askWhatIsMissing>[0],
  stack: Stack,
  { type, branch, commit }: Run,
): ReturnType<typeof askWhatIsMissing> {
  const isPromoted = type !== 'PROPOSED' && branch !== stack.settings.branch;
  return isPromoted ? askWhatIsMissing(parts, stack, commit.hash) : () => Promise.resolve(null);
}

/** For the record of what came of a press. */
export const lacksText = (commit: string, missing: Run): string =>
  `${commit.slice(0, 7)} does not contain ${missing.commit.hash.slice(0, 7)}, which the stack has now or gets`;
