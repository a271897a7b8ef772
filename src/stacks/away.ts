import type { Repository } from './repository.ts';

/**
 * Why nothing can be done in the repository of a stack: the App does not see it any more (`removed`), is suspended on its
 * account, or the repository is archived, so that nothing could be reported there.
 */
export type Away = 'removed' | 'suspended' | 'archived';

const reasons: Readonly<Record<Away, (repository: string) => string>> = {
  removed: (repository) => `the App does not see ${repository} any more`,
  suspended: (repository) => `the App is suspended on the account of ${repository}`,
  archived: (repository) => `${repository} is archived`,
};

/** Why nothing of the stack may start; null when it may. */
export function awayReason(stack: {
  readonly away?: Away;
  readonly repository: Pick<Repository, 'fullName'>;
}): string | null {
  const { away, repository } = stack;
  return away === undefined ? null : reasons[away](repository.fullName);
}
