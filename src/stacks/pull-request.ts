import { affectedBy, notAffected } from './affected.ts';
import { awayReason } from './away.ts';
import type { Commit } from './repository.ts';
import type { Stack } from './stack.ts';
import { isOfUntrustedBot } from './trust.ts';

/** A pull request as its runs show it. */
export interface PullRequest {
  readonly number: number;
  /** The branch that it is to be merged into. */
  readonly base: string;
  readonly title: string;
  /** Login; "ghost" when the account is gone. */
  readonly author: string;
  /** Its commits are in another repository. */
  readonly isFork: boolean;
}

/** A pull request that is open, as it is now; github/events/pull-request.ts translates GitHub's. */
export interface PullRequestChange {
  readonly repositoryId: number;
  readonly pullRequest: PullRequest;
  /** Where its commits are: a branch of the repository, or `owner:branch` for one of a fork. */
  readonly branch: string;
  /** Hash of the head commit. */
  readonly headHash: string;
  readonly isDraft: boolean;
  readonly details: PullRequestDetails;
  /** What it previews is not new to its stacks: a label, a closing. Only push policies are asked. */
  readonly onlyForPolicies?: true;
  /** Who opened it, pushed to it, ... */
  readonly sender: { readonly login: string; readonly email: string };
  /** Asks for what is in it, which costs requests. Rejects when GitHub cannot be asked: try again. */
  read(): Promise<PullRequestContent>;
}

/** What only push policies go by. */
export interface PullRequestDetails {
  /** GitHub's word for what happened; `merged` for one that was closed by that. */
  readonly action: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly labels: readonly string[];
  /** Login of the account that the head branch belongs to. */
  readonly headOwner: string;
  /** Neither a conflict nor a rule of the base stands against its merge; null while GitHub works it out. */
  readonly isMergeable: boolean | null;
}

export interface PullRequestContent {
  readonly head: Commit;
  /** From the merge base to the head, from the repository's root. Null when the list is not complete. */
  readonly changedPaths: readonly string[] | null;
  /** Logins of the bots among its author, the sender and the author of the head commit. */
  readonly bots: readonly string[];
}

export type PullRequestSelection =
  | {
      readonly stack: Stack;
      readonly selected: true;
      readonly isUntrusted: boolean;
      /** What of it concerns the stack. */
      readonly reason: string;
    }
  | { readonly stack: Stack; readonly selected: false; readonly reason: string };

/** Why a pull request is none of the stack's business, whatever it changes; null when it may be. */
export function reasonAgainst(stack: Stack, { base, isFork }: PullRequest): string | null {
  const { settings } = stack;
  const away = awayReason(stack);
  if (away !== null) return away;
  if (base !== settings.branch) return `the pull request is for ${base}, the stack follows another branch`;
  return isFork && !settings.allowForks ? 'pull requests of forks start nothing' : null;
}

/** Which stacks of the repository a pull request previews. */
export function selectForPullRequest(
  stacks: readonly Stack[],
  pullRequest: PullRequest,
  { changedPaths, bots }: Pick<PullRequestContent, 'changedPaths' | 'bots'>,
): readonly PullRequestSelection[] {
  const affects = affectedBy(changedPaths);
  return stacks.map((stack) => {
    const against = reasonAgainst(stack, pullRequest);
    if (against !== null) return { stack, selected: false, reason: against };
    const reason = affects(stack);
    if (reason === null) return { stack, selected: false, reason: notAffected };
    return { stack, selected: true, isUntrusted: isUntrustedFor(stack, pullRequest, bots), reason };
  });
}

/** Whether a preview of the pull request has to do without the secrets of the stack. */
export function isUntrustedFor(
  { settings }: Stack,
  { isFork }: PullRequest,
  bots: PullRequestContent['bots'],
): boolean {
  return isFork || isOfUntrustedBot(settings, bots);
}
