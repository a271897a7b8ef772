import { actorName } from '../../access/actor.ts';
import type { RunCommands } from '../commands.ts';
import type { Refusal } from '../conversation.ts';
import type { Run, RunState } from '../run.ts';
import type { RunStore, StoredEvent } from '../run-store.ts';
import { type Prepare, type Reference, refused } from './act.ts';
import { type CommentedPullRequest, endOfSecondMs, type PullRequestComment } from './comment.ts';
import { moved } from './moved.ts';

const waiting: ReadonlySet<RunState> = new Set(['UNCONFIRMED', 'PENDING_REVIEW']);

/** `confirm` and `discard`: of the run of the stack that waits for people, if it is one of the pull request. */
export function createAnswerToWaiting(
  verb: 'confirm' | 'discard',
  parts: {
    runs: Pick<RunStore, 'activeRun' | 'events'>;
    commands: Pick<RunCommands, 'confirm' | 'discard'>;
    reference: Reference;
  },
): Prepare {
  const { runs, commands, reference } = parts;

  function against(run: Run, events: readonly StoredEvent[], comment: PullRequestComment): Refusal | null {
    const { pullRequest } = comment;
    const shown = reference(run);
    if (!isOf(pullRequest, run)) return { code: 'of-another', run: shown };
    if (verb === 'confirm' && run.type === 'DESTROY') return { code: 'tear-down', run: shown };
    if (verb === 'confirm' && pullRequest.state === 'closed') return { code: 'pull-request-closed' };
    if (pullRequest.state === 'open' && run.commit.hash !== pullRequest.headHash) {
      return { code: 'head-moved', run: shown, seen: run.commit.hash, head: pullRequest.headHash };
    }
    const since = events.find(({ stateVersion }) => stateVersion === run.stateVersion);
    const wasSeen = since !== undefined && since.timestampMs < endOfSecondMs(comment);
    return wasSeen ? null : { code: 'not-seen-yet', run: shown };
  }

  return (_, { comment }) =>
    Promise.resolve(async (tx, stack) => {
      const run = await runs.activeRun(stack.key, tx);
      if (!run || !waiting.has(run.state)) {
        return refused({ code: 'nothing-waits', run: run && reference(run) });
      }
      const refusal = against(run, await runs.events(run.id, tx), comment);
      if (refusal) return refused(refusal);
      const { stateVersion } = run;
      const request = { actor: actorName(comment.actor), stateVersion };
      return moved(await commands[verb](run.id, request, tx), run, reference);
    });
}

/** One that a push made knows no pull request: then its commit tells. */
function isOf({ pullRequest, headHash, mergeCommitHash }: CommentedPullRequest, run: Run): boolean {
  const { hash } = run.commit;
  return run.pullRequest?.number === pullRequest.number || hash === headHash || hash === mergeCommitHash;
}
