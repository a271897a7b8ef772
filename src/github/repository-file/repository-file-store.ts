import type { FileProblem } from '../../stacks/file-problems.ts';
import type { Tx } from '../../tx.ts';

/** A repository file as it was judged last. */
export interface JudgedFile {
  readonly repositoryId: number;
  /** The head of the default branch at which it was read. */
  readonly commit: string;
  /** Git's hash of its content. */
  readonly blob: string;
  /** Empty: it is in force. */
  readonly problems: readonly FileProblem[];
}

/** What is known of repository files. Reads see committed data; methods with `tx` see the transaction. */
export interface RepositoryFileStore {
  find(repositoryId: number, tx?: Tx): Promise<JudgedFile | null>;
  save(tx: Tx, file: JudgedFile): Promise<void>;
  /** There is no file any more. */
  remove(tx: Tx, repositoryId: number): Promise<void>;
  /**
   * Whether something said that the file may be another, and it was not read since. Of repositories without a
   * file too; false of one that was never heard of.
   */
  isUnread(repositoryId: number): Promise<boolean>;
  setUnread(tx: Tx, repositoryId: number, isUnread: boolean): Promise<void>;
}
