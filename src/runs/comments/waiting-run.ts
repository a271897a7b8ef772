import { actorName } from '../../access/actor.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { RunCommands } from '../commands.ts';
import type { Refusal } from '../conversation.ts';
import type { Run, RunState } from '../run.ts';
import type { RunStore, StoredEvent } from '../run-store.ts';
import { type Prepare, type Reference, refused } from './act.ts';
import { type CommentedPullRequest, endOfSecondMs, type PullRequestComment } from './comment.ts';
import { moved } from './moved.ts';

export interface WaitingParts {
  readonly runs: Pick<RunStore, 'activeRun' | 'unfinished' | 'events'>;
  readonly reference: Reference;
}

/**
 * The run of the stack that waits for people and is of the pull request: the first that is in one of the `states`, of
 * several in one state the newest. Refused when there is none, and when whoever wrote the comment cannot have seen it.
 */
export async function waitingRun(
  { runs, reference }: WaitingParts,
  stack: Stack,
  comment: PullRequestComment,
  states: readonly RunState[],
  tx: Tx,
): Promise<Run | Refusal> {
  const unfinished = await runs.unfinished(stack.key, tx);
  const waiting = states.flatMap((state) => unfinished.filter((run) => run.state === state).reverse());
  const run = waiting.find((each) => isOf(comment.pullRequest, each));
  if (!run) {
    const [other] = waiting;
    if (other) return { code: 'of-another', run: reference(other) };
    const active = await runs.activeRun(stack.key, tx);
    return { code: 'nothing-waits', run: active && reference(active) };
  }
  const refusal = notSeen(run, await runs.events(run.id, tx), comment, reference);
  return refusal ?? run;
}

/** `confirm` and `discard`. */
export function createAnswerToWaiting(
  verb: 'confirm' | 'discard',
  parts: WaitingParts & { readonly commands: Pick<RunCommands, 'confirm' | 'discard'> },
): Prepare {
  const { commands, reference } = parts;

  function against(run: Run, { pullRequest }: PullRequestComment): Refusal | null {
    if (verb === 'discard') return null;
    if (run.type === 'DESTROY') return { code: 'tear-down', run: reference(run) };
    return pullRequest.state === 'closed' ? { code: 'pull-request-closed' } : null;
  }

  return (_, { comment }) =>
    Promise.resolve(async (tx, stack) => {
      const run = await waitingRun(parts, stack, comment, ['UNCONFIRMED', 'PENDING_REVIEW'], tx);
      if ('code' in run) return refused(run);
      const refusal = against(run, comment);
      if (refusal) return refused(refusal);
      const { stateVersion } = run;
      const request = { actor: actorName(comment.actor), stateVersion };
      return moved(await commands[verb](run.id, request, tx), run, reference);
    });
}

function notSeen(
  run: Run,
  events: readonly StoredEvent[],
  comment: PullRequestComment,
  reference: Reference,
): Refusal | null {
  const { pullRequest } = comment;
  const shown = reference(run);
  if (pullRequest.state === 'open' && run.commit.hash !== pullRequest.headHash) {
    return { code: 'head-moved', run: shown, seen: run.commit.hash, head: pullRequest.headHash };
  }
  const since = events.find(({ stateVersion }) => stateVersion === run.stateVersion);
  const wasSeen = since !== undefined && since.timestampMs < endOfSecondMs(comment);
  return wasSeen ? null : { code: 'not-seen-yet', run: shown };
}

/** One that a push made knows no pull request: then its commit tells. */
function isOf({ pullRequest, headHash, mergeCommitHash }: CommentedPullRequest, run: Run): boolean {
  const { hash } = run.commit;
  return run.pullRequest?.number === pullRequest.number || hash === headHash || hash === mergeCommitHash;
}
