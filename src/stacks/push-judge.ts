import type { Tx } from '../tx.ts';
import type { PullRequest, PullRequestDetails } from './pull-request.ts';
import type { Commit } from './repository.ts';
import type { Stack } from './stack.ts';

/**
 * Who decides which runs an event of a repository starts, where people have written rules for it: push policies.
 * Implemented by policies; asked before runs are made, outside of any transaction.
 */
export interface PushJudge {
  /** Keys of those stacks that push policies judge. For the others the built-in rules decide. */
  judged(stacks: readonly Stack[]): Promise<ReadonlySet<string>>;
  /**
   * By the key of the stack; those that no push policy judges are not in it. What cannot be judged is `failed`, and
   * starts nothing. Rejects only when the server ends meanwhile: the event is to be handled anew.
   */
  judge(stacks: readonly Stack[], event: PushEvent): Promise<ReadonlyMap<string, PushJudgement>>;
}

/** A push, or what happened to a pull request or a merge queue, as policies are told of it. */
export interface PushEvent {
  readonly kind: 'push' | 'pull_request' | 'merge_group';
  /** `owner:branch` for a pull request of a fork. */
  readonly branch: string;
  readonly head: Commit;
  /** Who pushed, labeled, closed, ... */
  readonly by: { readonly login: string; readonly isBot: boolean };
  /** From the repository's root. Of a pull request: all that it changes. Null when the list cannot be trusted. */
  readonly changedPaths: readonly string[] | null;
  readonly isForced: boolean;
  readonly pullRequest: JudgedPullRequest | null;
}

export interface JudgedPullRequest extends PullRequest, PullRequestDetails {
  readonly isDraft: boolean;
}

/** What the push policies of one stack say together of one event. */
export interface PushJudgement {
  readonly said: PushVerdict;
  /** Writes it down, and for the run that was made by it, the flags that the policies give it. */
  record(tx: Tx, runId: string | null): Promise<void>;
}

/** What they want; what comes of it is decided in push-decision.ts. */
export interface PushVerdict {
  /** `unmatched`: no rule wants a run, and none wants it to be ignored. `failed`: it could not be judged. */
  readonly outcome: 'tracked' | 'proposed' | 'ignored' | 'unmatched' | 'failed';
  /** For people: each with the name of its policy; why, where the outcome is `failed`. */
  readonly messages: readonly string[];
  /** With `tracked`: no run is made. */
  readonly notrigger: boolean;
  readonly prioritize: boolean;
  readonly allowFork: boolean;
  /** Where nothing starts by the policies: a check says so, ... */
  readonly notify: boolean;
  /** ... and is a failed one. */
  readonly fail: boolean;
  /** Ids of runs. */
  readonly cancel: readonly string[];
  readonly lock: PolicyLockWish | null;
  /** Keys of locks. */
  readonly unlock: readonly string[];
}

export interface PolicyLockWish {
  /** Who comes with the same one may have the lock, and take it away. People read it as the reason of the lock. */
  readonly key: string;
  /** Name of the policy. */
  readonly policy: string;
}
