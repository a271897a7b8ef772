import type { z } from 'zod';
import type { Run } from '../../runs/run.ts';
import { affectedBy } from '../../stacks/affected.ts';
import type { PullRequestChange, PullRequestContent } from '../../stacks/pull-request.ts';
import type { Commit } from '../../stacks/repository.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Push } from '../../stacks/trigger.ts';
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

export interface PushFacts extends Surroundings {
  readonly push: Pick<Push, 'branch' | 'head' | 'isForced' | 'pusherLogin' | 'changedPaths'>;
}

export interface PullRequestFacts extends Surroundings {
  readonly change: Omit<PullRequestChange, 'read' | 'repositoryId'>;
  readonly content: Pick<PullRequestContent, 'head' | 'changedPaths'>;
  /** As GitHub calls it: "opened", "labeled", ...; left out where it is not known. */
  readonly action?: string;
  /** Left out where they are not known. */
  readonly labels?: readonly string[];
}

type Input = z.infer<typeof schemas.pushInput>;

/** What push policies judge of a push. */
export function pushInput(facts: PushFacts): Input {
  const { head, branch, isForced, pusherLogin, changedPaths } = facts.push;
  const author = pusherLogin.toLowerCase();
  const push = { ...headInput(head, facts.stack, changedPaths), branch, author, forced: isForced };
  return { push, pull_request: null, ...surroundings(facts) };
}

/** What push policies judge of a pull request. */
export function pullRequestInput(facts: PullRequestFacts): Input {
  const { change, content, stack } = facts;
  const { head, changedPaths } = content;
  const { author } = bareCommit(head);
  const push = { ...headInput(head, stack, changedPaths), branch: change.branch, author, forced: false };
  return { push, pull_request: aboutPullRequest(facts), ...surroundings(facts) };
}

function headInput({ hash, message, timestamp }: Commit, stack: Stack, changedPaths: Push['changedPaths']) {
  return {
    ...{ hash, message, created_at: nanosecondsOf(timestamp * 1000), tag: '' as const },
    affected_files: changedPaths && [...changedPaths],
    affected: affectedBy(changedPaths)(stack) !== null,
  };
}

function aboutPullRequest({
  change,
  content,
  action,
  labels,
  stack,
}: PullRequestFacts): Input['pull_request'] {
  const { pullRequest, branch, headHash, isDraft, sender } = change;
  const { number, title, author, base, isFork } = pullRequest;
  // A branch of a fork is `owner:branch`.
  const owner = (isFork ? branch : stack.repository.fullName).split(/[:/]/)[0] ?? '';
  return {
    ...{ id: number, title, author: author.toLowerCase(), action_initiator: sender.login.toLowerCase() },
    ...(action === undefined ? {} : { action }),
    base: { branch: base },
    head: { branch, hash: headHash },
    ...{ head_owner: owner.toLowerCase(), fork: isFork, draft: isDraft },
    ...(labels === undefined ? {} : { labels: [...labels] }),
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
