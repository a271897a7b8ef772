import { isUntrustedFor } from '../../stacks/pull-request.ts';
import type { RunCommands } from '../commands.ts';
import type { Refusal } from '../conversation.ts';
import { wentWithoutSecrets } from '../earlier-run.ts';
import type { RunStore } from '../run-store.ts';
import { type Prepare, type Reference, refused } from './act.ts';
import type { CommentedPullRequest } from './comment.ts';
import { made } from './made.ts';
import { otherBranch } from './other-branch.ts';

/** `preview`: a run of the head as it is now, also when there was one. */
export function createPreview(parts: {
  runs: Pick<RunStore, 'newestOfCommit' | 'newestOfBranch'>;
  commands: Pick<RunCommands, 'create'>;
  reference: Reference;
}): Prepare {
  const { runs, commands, reference } = parts;

  return async (_, { comment }) => {
    const { pullRequest } = comment;
    const against = notOpen(pullRequest);
    if (against) return () => Promise.resolve(refused(against));
    const { head, bots } = await pullRequest.read();
    return async (tx, stack) => {
      const wrongBranch = otherBranch(stack, pullRequest);
      if (wrongBranch) return refused(wrongBranch);
      if (pullRequest.pullRequest.isFork && !stack.settings.allowForks) {
        return refused({ code: 'forks-not-allowed' });
      }
      // What went without secrets gets none because somebody asks for a preview: a bot may have pushed it.
      const of = { stackKey: stack.key, branch: pullRequest.branch, hash: head.hash };
      const isUntrusted =
        isUntrustedFor(stack, pullRequest.pullRequest, bots) || (await wentWithoutSecrets(runs, of, tx));
      const run = await commands.create(
        {
          stackKey: stack.key,
          type: 'PROPOSED',
          branch: pullRequest.branch,
          commit: head,
          pullRequest: pullRequest.pullRequest,
          isUntrusted,
          by: comment.actor,
          dedupeKey: `comment:${comment.id}`,
          supersedes: true,
        },
        tx,
      );
      return made(run, reference);
    };
  };
}

function notOpen({ state }: CommentedPullRequest): Refusal | null {
  if (state === 'open') return null;
  return { code: state === 'merged' ? 'pull-request-merged' : 'pull-request-closed' };
}
