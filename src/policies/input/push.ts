import type { z } from 'zod';
import type { Run } from '../../runs/run.ts';
import { affectedBy } from '../../stacks/affected.ts';
import type { PushEvent, PushedCommits } from '../../stacks/push-judge.ts';
import type { Commit } from '../../stacks/repository.ts';
import type { Stack } from '../../stacks/stack.ts';
import { nanosecondsOf } from './moment.ts';
import { bareCommit, briefRunInput } from './run.ts';
import type * as schemas from './schemas/push.ts';
import { stackInput } from './stack.ts';

interface Surroundings {
  readonly stack: Stack;
  /** Those of the stack that are not over, the oldest first. */
  readonly inProgress: readonly Run[];
  readonly nowMs: number;
}

export type PushFacts = Surroundings & Extract<PushEvent, { kind: 'push' | 'merge_group' }>;
export type PullRequestFacts = Surroundings & Extract<PushEvent, { kind: 'pull_request' }>;

type Input = z.infer<typeof schemas.pushInput>;

/** What push policies judge of a push, or of a merge group, which is one to a branch of the merge queue. */
export function pushInput(facts: PushFacts): Input {
  const { head, branch, isForced, pusherLogin, changedPaths } = facts.push;
  const author = pusherLogin.toLowerCase();
  const push = { ...headInput(head, facts.stack, changedPaths), branch, author, forced: isForced };
  return { event: facts.kind, push, pull_request: null, ...surroundings(facts) };
}

/** What push policies judge of a pull request. */
export function pullRequestInput(facts: PullRequestFacts): Input {
  const { change, content, stack } = facts;
  const { head, changedPaths } = content;
  const { author } = bareCommit(head);
  const push = { ...headInput(head, stack, changedPaths), branch: change.branch, author, forced: false };
  return { event: facts.kind, push, pull_request: aboutPullRequest(facts), ...surroundings(facts) };
}

function headInput(
  { hash, message, timestamp }: Commit,
  stack: Stack,
  changedPaths: PushedCommits['changedPaths'],
) {
  return {
    ...{ hash, message, created_at: nanosecondsOf(timestamp * 1000), tag: '' as const },
    affected_files: changedPaths && [...changedPaths],
    affected: affectedBy(changedPaths)(stack) !== null,
  };
}

function aboutPullRequest({ change, content }: PullRequestFacts): Input['pull_request'] {
  const { pullRequest, branch, headHash, isDraft, sender, details } = change;
  const { number, title, author, base, isFork } = pullRequest;
  return {
    ...{ id: number, title, author: author.toLowerCase() },
    ...{ action: details.action, action_initiator: sender.login.toLowerCase() },
    base: { branch: base },
    // Of a fork: `owner:branch`; the owner is told apart.
    head: { branch: branch.slice(branch.indexOf(':') + 1), hash: headHash },
    ...{ head_owner: details.headOwner.toLowerCase(), fork: isFork, draft: isDraft },
    ...{ closed: details.state !== 'open', mergeable: details.isMergeable, labels: [...details.labels] },
    diff: content.changedPaths && [...content.changedPaths],
  };
}

function surroundings({
  stack,
  inProgress,
  nowMs,
}: Surroundings): Pick<Input, 'in_progress' | 'stack' | 'request'> {
  return {
    in_progress: inProgress.map(briefRunInput),
    stack: stackInput(stack),
    request: { timestamp_ns: nanosecondsOf(nowMs) },
  };
}
