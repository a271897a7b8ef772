import type { Role } from '../../access/actor.ts';
import { repositoryFilePath } from '../../stacks/managed.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { AnswerBody, StackConcern } from '../conversation.ts';
import type { CommentedPullRequest } from './comment.ts';
import { concerns } from './select-stacks.ts';

/** `explain`: why the pull request concerns each of the stacks, or why not. */
export async function explain(
  stacks: readonly Stack[],
  pullRequest: CommentedPullRequest,
  role: Role,
): Promise<AnswerBody> {
  const { changedPaths } = await pullRequest.read();
  const selections = await concerns(stacks, pullRequest);
  return {
    kind: 'explained',
    role,
    stacks: selections.map(
      (selection): StackConcern => ({
        stack: selection.stack.id,
        isConcerned: selection.selected,
        isUntrusted: selection.selected && selection.isUntrusted,
        reason: selection.reason,
      }),
    ),
    changesRepositoryFile: changedPaths?.includes(repositoryFilePath) ?? false,
  };
}
