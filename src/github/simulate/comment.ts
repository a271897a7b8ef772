import { z } from 'zod';
import type { UnderstoodCommand } from '../../runs/comments/command.ts';
import type { CommentedPullRequest, PullRequestComment } from '../../runs/comments/comment.ts';
import { chooseStacks, concerns } from '../../runs/comments/select-stacks.ts';
import { type Verb, verbFacts } from '../../runs/comments/verbs.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { Stack } from '../../stacks/stack.ts';
import { createIssueCommentHandler } from '../events/issue-comment.ts';
import type { LivePullRequest, PullRequestReader } from '../pull-request-reader.ts';
import type { Checkout } from './checkout.ts';
import { type Decision, nothing, type StackDecision } from './decision.ts';
import { changedOf, noCommit, selectionOf } from './pull-request.ts';

/** The payload has neither the head nor the base. */
const told = z.object({
  issue: z.object({ number: z.number().int(), title: z.string(), state: z.string() }),
});

/** By the handler of the server: what a new comment asks for, of whom, and about which stacks. */
export async function simulateComment(
  payload: unknown,
  repository: Repository,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Decision> {
  const comments: PullRequestComment[] = [];
  const handle = createIssueCommentHandler({
    repositories: { remember: () => Promise.resolve(true) },
    pullRequests: readerOf(payload, repository, checkout),
    onComment: (comment) => {
      comments.push(comment);
      return Promise.resolve('');
    },
  });
  const { state, note } = await handle({ deliveryId: 'simulated', payload });
  const [comment] = comments;
  if (!comment) return nothing(state === 'failed' ? 'failed' : 'ignored', note);
  const asked = `would be asked: what ${comment.actor.login} may do in ${repository.fullName}`;
  const { command, pullRequest } = comment;
  if (command.kind === 'command') return decided(command, pullRequest, stacks, asked);
  const hint = command.didYouMean === null ? '' : `; did you mean ${command.didYouMean}?`;
  return {
    ...nothing('ignored', 'the comment is answered, and nothing is done'),
    command: { verb: null, role: null, stacks: null, task: null, problem: `${command.reason}${hint}` },
    notes: [asked],
  };
}

function readerOf(payload: unknown, repository: Repository, checkout: Checkout): PullRequestReader {
  return {
    find: async () => {
      const { number, title, state } = told.parse(payload).issue;
      const base = repository.defaultBranch;
      const live: LivePullRequest = {
        repository,
        pullRequest: { number, base, title, author: '', isFork: false },
        ...{ state: state === 'open' ? 'open' : 'closed', isDraft: false, mergeCommitHash: null },
        ...{ headHash: 'HEAD', branch: 'HEAD', author: null, changedFiles: 0 },
        ...{ labels: [], headOwner: '', isMergeable: null },
      };
      return live;
    },
    changedPaths: ({ pullRequest }) => checkout.changedPaths(pullRequest.base, 'HEAD'),
    headCommit: ({ headHash }) => Promise.resolve(noCommit(headHash)),
  };
}

async function decided(
  { verb, task, stacks: glob }: UnderstoodCommand,
  pullRequest: CommentedPullRequest,
  stacks: readonly Stack[],
  asked: string,
): Promise<Decision> {
  const chosen = await chooseStacks(stacks, glob, pullRequest);
  const ids = new Set(chosen.kind === 'stacks' ? chosen.stacks.map(({ id }) => id) : []);
  const { number, base } = pullRequest.pullRequest;
  const guessed = `taken for granted: HEAD of the checkout is its head, ${base} its base, and it is of no fork`;
  return {
    outcome: 'decided',
    reason: null,
    stacks:
      glob === null
        ? (await concerns(stacks, pullRequest)).map(selectionOf).map(withoutRun)
        : stacks.map(({ id }) => byGlob(id, glob, ids.has(id))),
    changedPaths: glob === null ? changedOf((await pullRequest.read()).changedPaths) : null,
    command: {
      ...{ verb, role: roleFor(verb), stacks: glob, task },
      problem: chosen.kind === 'refused' ? chosen.refusal.code : null,
    },
    notes: [
      asked,
      `would be asked: whether #${number} is open, its head and its base`,
      ...(glob === null ? [guessed] : []),
      'would be looked up: the runs and the lock of each stack',
    ],
  };
}

/** What comes of it is the command's business. */
const withoutRun = ({ stack, selected, reason }: StackDecision): StackDecision => ({
  stack,
  selected,
  reason,
});

const byGlob = (stack: string, glob: string, selected: boolean): StackDecision => ({
  ...{ stack, selected },
  reason: `${selected ? 'matches' : 'does not match'} ${glob}`,
});

function roleFor(verb: Verb): string {
  const { needs } = verbFacts[verb];
  return verb === 'unlock' ? `${needs}; admin for somebody else's lock` : needs;
}
