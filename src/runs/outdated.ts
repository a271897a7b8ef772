import type { Stack } from '../stacks/stack.ts';
import type { Push } from '../stacks/trigger.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/**
 * Whether a push came too late: GitHub does not order its deliveries, and one that had to be tried again
 * comes to its turn after a newer one. A run of the older commit would undo what the newer one did.
 * Null when it may start a run, else the reason why not. Rejects when GitHub cannot be asked: try again.
 */
export function createOutdated(parts: {
  runs: Pick<RunStore, 'newestOfType' | 'newestOfBranch'>;
  source: Pick<Source, 'compare' | 'resolve'>;
}) {
  const { runs, source } = parts;

  return async (stack: Stack, type: 'TRACKED' | 'PROPOSED', push: Push): Promise<string | null> => {
    const { head, before, isForced } = push;
    const newest = await (type === 'TRACKED'
      ? runs.newestOfType(stack.key, type)
      : runs.newestOfBranch(stack.key, type, push.branch));
    if (!newest || newest.commit.hash === head.hash) return null;
    // The usual case, and what needs no question: the push continues what ran last, and nothing came back to that.
    if (newest.commit.hash === before && !newest.isRenewed) return null;
    const relation = isForced
      ? 'diverged'
      : await source.compare(stack.repository, newest.commit.hash, head.hash);
    if (relation === 'behind') {
      return `${head.hash.slice(0, 7)} is older than the commit of run ${newest.id}`;
    }
    // Branches were moved to and fro: what counts is where the branch is now.
    const isInLine = relation === 'ahead' && !newest.isRenewed;
    const isGone = !isInLine && !(await source.resolve(stack.repository, push.branch, head.hash));
    return isGone ? `${head.hash.slice(0, 7)} is not on ${push.branch} any more` : null;
  };
}
