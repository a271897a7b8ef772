import type { Repository } from '../stacks/repository.ts';
import type { Tx } from '../tx.ts';

/** Comments that people's policies want below pull requests. Implemented in github/feedback/. */
export interface PullRequestNotes {
  /** Numbers of the pull requests that have the commit, or that are open into the branch. Rejects while GitHub does not answer. */
  find(
    repository: Repository,
    by: { readonly commit: string } | { readonly intoBranch: string },
  ): Promise<readonly number[]>;
  /** Only writes rows. What a later state of the run has said under the same key stays. */
  write(tx: Tx, note: PullRequestNote): Promise<void>;
}

export interface PullRequestNote {
  readonly repositoryId: number;
  readonly number: number;
  readonly runId: string;
  readonly stateVersion: number;
  readonly policyId: string;
  /** Under the same key the policy has one comment of the pull request, which is edited. Null: always another one. */
  readonly key: string | null;
  /** Markdown of people: it mentions nobody. */
  readonly body: string;
}
