/** The account that pushes the temporary branches of merge queues. */
export const mergeQueueLogin = 'github-merge-queue[bot]';

/**
 * `gh-readonly-queue/main/pr-7-3f2a91c...` → `main`, the branch that the group is to be merged into. Null for every
 * other branch. Anybody who may push can make such a branch: who did is another question.
 */
export function baseOfQueueBranch(branch: string): string | null {
  return /^gh-readonly-queue\/(.+)\/pr-[^/]+$/.exec(branch)?.[1] ?? null;
}
