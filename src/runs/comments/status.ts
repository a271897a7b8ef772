import { type Stack, showsDetails } from '../../stacks/stack.ts';
import type { Gates } from '../approvals/gates.ts';
import { readBlocker } from '../blocker.ts';
import type { Place, ShownApproval, StackStanding, TurnBlocker, WaitsFor } from '../conversation.ts';
import { isBlocking, isTerminal, type Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Reference } from './act.ts';
import type { CommentedPullRequest } from './comment.ts';
import { shownLock } from './lock.ts';
import { newestRun } from './newest-run.ts';

type Runs = Pick<
  RunStore,
  'newestOfPullRequest' | 'newestOfCommit' | 'activeRun' | 'firstQueued' | 'unfinished' | 'find'
>;

/** `status`: where the newest run of a stack is, and what it waits for. */
export function createStatus(parts: { runs: Runs; gates: Gates; reference: Reference }) {
  const { runs, reference } = parts;

  async function blockerFor(run: Run, stack: Stack): Promise<TurnBlocker | null> {
    const blocker = await readBlocker(parts, run, stack);
    switch (blocker?.kind) {
      case undefined:
        return null;
      case 'lock':
        return { kind: 'lock' };
      case 'repository':
        return blocker;
      case 'approval':
        return shownApproval(stack, blocker);
      case 'run': {
        const before = await runs.find(blocker.run);
        return before && { kind: 'run', run: reference(before) };
      }
    }
  }

  /** Of a run that waits for people: what they have to see to before they can decide. */
  async function approvalFor(run: Run, stack: Stack): Promise<ShownApproval | null> {
    const blocker = await readBlocker(parts, run, stack);
    return blocker?.kind === 'approval' ? shownApproval(stack, blocker) : null;
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
        return (await approvalFor(run, stack)) ?? { kind: 'confirmation' };
      case 'PENDING_REVIEW':
        return (await approvalFor(run, stack)) ?? { kind: 'approval', reason: null };
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

/** Names people and policies: not for everybody who reads the pull request. */
export const shownApproval = (stack: Stack, { reason }: { readonly reason: string }): ShownApproval => ({
  kind: 'approval',
  reason: showsDetails(stack) ? reason : null,
});
