import { type Stack, showsDetails } from '../../stacks/stack.ts';
import type { Place, StackStanding, TurnBlocker, WaitsFor } from '../conversation.ts';
import { isBlocking, isTerminal, type Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import { blockerOf, readLine } from '../scheduler.ts';
import type { Reference } from './act.ts';
import type { CommentedPullRequest } from './comment.ts';
import { shownLock } from './lock.ts';
import { newestRun } from './newest-run.ts';

type Runs = Pick<
  RunStore,
  'newestOfPullRequest' | 'newestOfCommit' | 'activeRun' | 'firstQueued' | 'unfinished' | 'find'
>;

/** `status`: where the newest run of a stack is, and what it waits for. */
export function createStatus(parts: { runs: Runs; reference: Reference }) {
  const { runs, reference } = parts;

  async function blockerFor(run: Run, stack: Stack): Promise<TurnBlocker | null> {
    const blocker = blockerOf(run, await readLine(runs, stack), stack);
    if (blocker?.kind === 'lock') return { kind: 'lock' };
    if (blocker?.kind === 'repository') return blocker;
    const before = blocker && (await runs.find(blocker.run));
    return before && { kind: 'run', run: reference(before) };
  }

  async function placeOf(run: Run): Promise<Place | null> {
    if (!isBlocking(run.type)) return null;
    const queued = (await runs.unfinished(run.stackKey))
      .filter(({ state, type }) => state === 'QUEUED' && isBlocking(type))
      .toSorted((a, b) => b.priority - a.priority);
    const index = queued.findIndex(({ id }) => id === run.id);
    return index < 0 ? null : { place: index + 1, of: queued.length };
  }

  async function waitsFor(run: Run, stack: Stack): Promise<WaitsFor | null> {
    switch (run.state) {
      case 'QUEUED':
        return { kind: 'turn', blocker: await blockerFor(run, stack), queue: await placeOf(run) };
      case 'READY':
      case 'CONFIRMED':
        return { kind: 'worker' };
      case 'UNCONFIRMED':
        return { kind: 'confirmation' };
      case 'PENDING_REVIEW':
        return { kind: 'review' };
      default:
        return null;
    }
  }

  return async (stack: Stack, pullRequest: CommentedPullRequest): Promise<StackStanding> => {
    const run = await newestRun(runs, stack, pullRequest);
    const lock = stack.lock && shownLock(stack, stack.lock);
    if (!run) return { stack: stack.id, run: null, delta: null, waitsFor: null, lock, note: null };
    const commit = run.commit.hash;
    const isOfHead = commit === pullRequest.headHash || commit === pullRequest.mergeCommitHash;
    return {
      stack: stack.id,
      run: { ...reference(run), commit, isOfHead },
      delta: run.delta ?? null,
      waitsFor: await waitsFor(run, stack),
      lock,
      note: (isTerminal(run.state) && showsDetails(stack) && run.note) || null,
    };
  };
}
