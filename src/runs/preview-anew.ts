import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import { isOfUntrustedBot } from '../stacks/trust.ts';
import type { CreateRun } from './commands.ts';
import { wentWithoutSecrets } from './earlier-run.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/**
 * What asks for a preview of `head`, where the branch of an earlier preview is now. It has to do without secrets if
 * a preview of that commit had to, and if a bot that is not trusted wrote the commit or opened the pull request.
 */
export async function previewAnew(
  runs: Pick<RunStore, 'newestOfCommit' | 'newestOfBranch'>,
  earlier: Run,
  stack: Stack,
  head: Commit,
  by: Pick<CreateRun, 'by' | 'dedupeKey'>,
): Promise<CreateRun> {
  const { branch, pullRequest } = earlier;
  const of = { stackKey: stack.key, branch, hash: head.hash };
  const bots = [head.authorLogin, pullRequest?.author ?? ''].filter((login) => login.endsWith('[bot]'));
  return {
    ...{ stackKey: stack.key, type: 'PROPOSED', branch, commit: head },
    ...(pullRequest ? { pullRequest } : {}),
    isUntrusted: (await wentWithoutSecrets(runs, of)) || isOfUntrustedBot(stack.settings, bots),
    ...by,
  };
}
