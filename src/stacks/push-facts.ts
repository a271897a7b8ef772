import { isUntrustedFor, type PullRequestChange, type PullRequestContent } from './pull-request.ts';
import type { PushFacts } from './push-decision.ts';
import type { Stack } from './stack.ts';
import { isUntrustedPush, type Push } from './trigger.ts';

// What of an event no push policy can change.

export const factsOfPush = (stack: Stack, push: Push): PushFacts => ({
  kind: 'push',
  branch: push.branch,
  isFork: false,
  isClosed: false,
  isUntrusted: isUntrustedPush(stack, 'PROPOSED', push),
});

export const factsOfPullRequest = (
  stack: Stack,
  { branch, pullRequest, details }: PullRequestChange,
  { bots }: PullRequestContent,
): PushFacts => ({
  kind: 'pull_request',
  branch,
  isFork: pullRequest.isFork,
  isClosed: details.state !== 'open',
  isUntrusted: isUntrustedFor(stack, pullRequest, bots),
});

/** Who may put something in the queue is trusted with it. */
export const factsOfGroup = (branch: string): PushFacts => ({
  kind: 'merge_group',
  branch,
  isFork: false,
  isClosed: false,
  isUntrusted: false,
});
