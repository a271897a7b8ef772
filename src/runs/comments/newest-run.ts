import { actorName } from '../../access/actor.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { RunCommands } from '../commands.ts';
import type { Refusal } from '../conversation.ts';
import { askBeforeRetry } from '../deploy-rules.ts';
import { isTerminal, type Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Source } from '../source.ts';
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

/** `retry`: of the newest run that was over. What changes the world has to keep to the rules of `deploy` once more. */
export function createRetry(
  parts: Parts & {
    readonly runs: Pick<RunStore, 'newestFinished' | 'unfinished'>;
    readonly source: Pick<Source, 'compare'>;
  },
): Prepare {
  const { runs, commands, reference } = parts;
  return async (before, { comment }) => {
    const { pullRequest } = comment;
    const seen = { createdBeforeMs: endOfSecondMs(comment), isOver: true } as const;
    const run = await newestRun(runs, before, pullRequest, seen);
    if (!run) return () => Promise.resolve(refused({ code: 'no-run-over' }));
    const missing = await askBeforeRetry(parts, before, run);
    return async (tx, stack) => {
      const against = notAnyMore(run, stack, pullRequest, reference);
      if (against) return refused(against);
      const { hash } = run.commit;
      const deployed = await missing(tx);
      if (deployed) {
        const hashes = { head: hash, deployed: deployed.commit.hash };
        return refused({ code: 'behind', run: reference(deployed), ...hashes });
      }
      const request = { by: comment.actor, dedupeKey: `comment:${comment.id}` };
      return made(await commands.retry(run.id, request, tx), reference);
    };
  };
}

/** Why the commit of a pull request that was to be deployed is not to be any more. */
function notAnyMore(
  run: Run,
  { settings }: Stack,
  { state, headHash }: CommentedPullRequest,
  reference: Reference,
): Refusal | null {
  if (run.type === 'PROPOSED' || run.branch === settings.branch) return null;
  if (state === 'closed') return { code: 'pull-request-closed' };
  if (run.commit.hash === headHash) return null;
  return { code: 'head-moved', run: reference(run), seen: run.commit.hash, head: headHash };
}
