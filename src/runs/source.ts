import type { Commit, Repository } from '../stacks/repository.ts';

/** Where commits come from. Implemented by github/source.ts. */
export interface Source {
  /**
   * The head of the branch, or `sha` when given. Null when there is no such branch or commit, or when the
   * commit cannot be reached from the branch.
   */
  resolve(repository: Repository, branch: string, sha: string | null): Promise<Commit | null>;

  /** Where `head` stands as seen from `base`; null when one of them is not there (any more). */
  compare(
    repository: Repository,
    base: string,
    head: string,
  ): Promise<'ahead' | 'behind' | 'diverged' | 'identical' | null>;

  /**
   * What `head` changed since it left `base` (a branch or a commit), from the repository's root; both places of a file
   * that was moved. Null when that is not known: one of them is not there, they have nothing in common, or git failed.
   */
  changedPaths(repository: Repository, base: string, head: string): Promise<readonly string[] | null>;

  /**
   * Puts exactly that commit into `workTree` (empty, existing), with its git directory in `gitDir`,
   * outside the work tree. No credential is left behind. Rejects with a UserError that says what to do.
   */
  fetch(
    repository: Repository,
    sha: string,
    target: { readonly gitDir: string; readonly workTree: string },
    signal: AbortSignal,
  ): Promise<void>;
}
