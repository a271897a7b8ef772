import type { Tx } from '../tx.ts';
import type { PullRequestChange, PullRequestContent } from './pull-request.ts';
import type { Stack } from './stack.ts';
import type { Push } from './trigger.ts';

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

/** What happened. The push of a merge queue is one of a commit that is not merged yet. */
export type PushEvent =
  | { readonly kind: 'push' | 'merge_group'; readonly push: PushedCommits }
  | {
      readonly kind: 'pull_request';
      readonly change: Omit<PullRequestChange, 'read'>;
      readonly content: PullRequestContent;
    };

export type PushedCommits = Pick<Push, 'branch' | 'head' | 'isForced' | 'pusherLogin' | 'changedPaths'>;

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
