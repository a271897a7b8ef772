import type { Stack } from '../../stacks/stack.ts';
import type { Refusal } from '../conversation.ts';
import type { CommentedPullRequest } from './comment.ts';

/** A pull request for another branch than the one that the stack follows brings nothing to the stack. */
export function otherBranch(
  { settings }: Stack,
  { pullRequest: { base } }: CommentedPullRequest,
): Refusal | null {
  if (base === settings.branch) return null;
  return { code: 'other-branch', base, branch: settings.branch };
}
