import { actorName } from '../../access/actor.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { RunCommands } from '../commands.ts';
import { isTerminal, type Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import { type Prepare, type Reference, refused } from './act.ts';
import { type CommentedPullRequest, endOfSecondMs } from './comment.ts';
import { made } from './made.ts';
import { moved } from './moved.ts';

type Runs = Pick<RunStore, 'newestOfPullRequest' | 'newestOfCommit'>;

/** What one cannot have seen is left out; without it, nothing is. */
interface Which {
  readonly createdBeforeMs?: number;
  readonly isOver?: true;
}

/** Of the pull request, or of what its merge put on the branch that the stack follows. */
export async function newestRun(
  runs: Runs,
  stack: Stack,
  { pullRequest, mergeCommitHash }: CommentedPullRequest,
  which: Which = {},
  tx?: Tx,
): Promise<Run | null> {
  const ofNumber = await runs.newestOfPullRequest(stack.key, pullRequest.number, which, tx);
  if (mergeCommitHash === null) return ofNumber;
  const ofMerge = await runs.newestOfCommit(stack.key, 'TRACKED', mergeCommitHash, 'any', tx);
  if (!ofMerge || !fits(ofMerge, which)) return ofNumber;
  return ofNumber && ofNumber.id > ofMerge.id ? ofNumber : ofMerge;
}

function fits({ createdAtMs, state }: Run, { createdBeforeMs, isOver }: Which): boolean {
  if (createdBeforeMs !== undefined && createdAtMs >= createdBeforeMs) return false;
  return !isOver || isTerminal(state);
}

interface Parts {
  readonly runs: Runs;
  readonly commands: Pick<RunCommands, 'cancel' | 'stop' | 'retry'>;
  readonly reference: Reference;
}

/** `cancel` and `stop`: of the newest run that there was when the comment was written. */
export function createEnd(verb: 'cancel' | 'stop', { runs, commands, reference }: Parts): Prepare {
  return (_, { comment }) =>
    Promise.resolve(async (tx, stack) => {
      const seen = { createdBeforeMs: endOfSecondMs(comment) };
      const run = await newestRun(runs, stack, comment.pullRequest, seen, tx);
      if (!run) return refused({ code: 'no-run' });
      return moved(await commands[verb](run.id, { actor: actorName(comment.actor) }, tx), run, reference);
    });
}

/** `retry`: of the newest run that was over. */
export function createRetry({ runs, commands, reference }: Parts): Prepare {
  return (_, { comment }) =>
    Promise.resolve(async (tx, stack) => {
      const seen = { createdBeforeMs: endOfSecondMs(comment), isOver: true } as const;
      const run = await newestRun(runs, stack, comment.pullRequest, seen, tx);
      if (!run) return refused({ code: 'no-run-over' });
      const request = { by: comment.actor, dedupeKey: `comment:${comment.id}` };
      return made(await commands.retry(run.id, request, tx), reference);
    });
}
