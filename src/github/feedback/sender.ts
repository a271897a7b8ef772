import type { ProbotOctokit } from 'probot';
import type { Repository } from '../../stacks/repository.ts';
import type { RequestPurpose } from '../api-budget.ts';
import type { PendingItem } from './outbox-store.ts';

/** Makes GitHub show one kind of item. */
export interface Sender {
  readonly purpose: Exclude<RequestPurpose, 'background'>;
  /** The least time between two times that one item is sent. */
  readonly gapMs: number;
  /**
   * What is shown is made here, of what is the case now. Resolves to GitHub's id, null when there was nothing to
   * show. Must bear to be called again for what was sent already: an answer can be lost.
   */
  send(item: PendingItem, context: SendContext): Promise<number | null>;
}

/** A sender throws it for what trying again cannot change; its message says so to whoever runs the server. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

export interface SendContext {
  readonly octokit: ProbotOctokit;
  readonly repository: Repository;
  readonly owner: string;
  readonly repo: string;
  /** Writes down that a create is about to be sent. */
  readonly beforeCreate: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** What every request to the repository carries. */
export const target = ({ owner, repo, signal }: SendContext) => ({ owner, repo, request: { signal } });
