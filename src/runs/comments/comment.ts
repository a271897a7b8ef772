import type { Actor } from '../../access/actor.ts';
import type { PullRequest, PullRequestContent } from '../../stacks/pull-request.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { AddressedCommand } from './command.ts';

/** A new comment that is addressed to us, below the pull request as it is now. */
export interface PullRequestComment {
  readonly id: number;
  /** GitHub's times are whole seconds. */
  readonly createdAtMs: number;
  readonly actor: Actor & { readonly kind: 'person' };
  readonly command: AddressedCommand;
  readonly pullRequest: CommentedPullRequest;
}

export interface CommentedPullRequest {
  readonly repository: Repository;
  readonly pullRequest: PullRequest;
  readonly state: 'open' | 'merged' | 'closed';
  readonly headHash: string;
  /** Where its commits are: a branch of the repository, or `owner:branch` of a fork. */
  readonly branch: string;
  /** What the merge put on its base; null unless it was merged. */
  readonly mergeCommitHash: string | null;
  /** Asks for what is in it, which costs requests. Rejects when GitHub cannot be asked: try again. */
  read(): Promise<PullRequestContent>;
}

/** For runs and locks: nobody acts on what came after the second in which the comment was written. */
export const endOfSecondMs = ({ createdAtMs }: Pick<PullRequestComment, 'createdAtMs'>): number =>
  (Math.floor(createdAtMs / 1000) + 1) * 1000;
