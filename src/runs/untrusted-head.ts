import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import { isOfUntrustedBot } from '../stacks/trust.ts';
import { wentWithoutSecrets } from './earlier-run.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/**
 * Whether a preview that somebody asks for has to do without secrets, as far as it can be told without asking GitHub
 * about a pull request: if a preview of that commit had to, and if a bot that is not trusted wrote the commit or opened
 * the pull request. Asking for it does not vouch for it.
 */
export async function isUntrustedHead(
  runs: Pick<RunStore, 'newestOfCommit' | 'newestOfBranch'>,
  stack: Stack,
  of: { readonly branch: string; readonly head: Commit; readonly pullRequest?: Run['pullRequest'] },
): Promise<boolean> {
  const { branch, head, pullRequest } = of;
  if (await wentWithoutSecrets(runs, { stackKey: stack.key, branch, hash: head.hash })) return true;
  // A bot may be the author of what people have merged.
  if (branch === stack.settings.branch) return false;
  const bots = [head.authorLogin, pullRequest?.author ?? ''].filter((login) => login.endsWith('[bot]'));
  return isOfUntrustedBot(stack.settings, bots);
}
