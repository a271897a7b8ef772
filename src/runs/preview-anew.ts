import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { CreateRun } from './commands.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import { isUntrustedHead } from './untrusted-head.ts';

/** What asks for a preview of `head`, where the branch of an earlier preview is now. */
export async function previewAnew(
  runs: Pick<RunStore, 'newestOfCommit' | 'newestOfBranch'>,
  earlier: Run,
  stack: Stack,
  head: Commit,
  by: Pick<CreateRun, 'by' | 'dedupeKey'>,
): Promise<CreateRun> {
  const { branch, pullRequest } = earlier;
  return {
    ...{ stackKey: stack.key, type: 'PROPOSED', branch, commit: head },
    ...(pullRequest ? { pullRequest } : {}),
    isUntrusted: await isUntrustedHead(runs, stack, { branch, head, pullRequest }),
    ...by,
  };
}
