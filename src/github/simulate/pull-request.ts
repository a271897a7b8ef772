import { z } from 'zod';
import type { PullRequestClosing } from '../../runs/pull-requests.ts';
import {
  type PullRequestChange,
  type PullRequestSelection,
  reasonAgainst,
  selectForPullRequest,
} from '../../stacks/pull-request.ts';
import type { Repository } from '../../stacks/repository.ts';
import type { Stack } from '../../stacks/stack.ts';
import { createPullRequestHandler } from '../events/pull-request.ts';
import { type PullRequestReader, parsePullRequest } from '../pull-request-reader.ts';
import type { Checkout } from './checkout.ts';
import { type ChangedPaths, type Decision, lookUpPolicies, nothing, type StackDecision } from './decision.ts';

const told = z.object({ pull_request: z.unknown() });

/** By the handler of the server, as if the pull request were still as the payload has it. */
export async function simulatePullRequest(
  payload: unknown,
  repository: Repository,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Decision> {
  const changes: PullRequestChange[] = [];
  const closings: PullRequestClosing[] = [];
  const handle = createPullRequestHandler({
    repositories: { remember: () => Promise.resolve(true) },
    files: { beforePush: () => Promise.resolve(null) },
    pullRequests: readerOf(payload, repository, checkout),
    onChange: (change) => {
      changes.push(change);
      return Promise.resolve([]);
    },
    isJudged: () => Promise.resolve(false),
    onClose: (closing) => {
      closings.push(closing);
      return Promise.resolve([]);
    },
  });
  const { state, note } = await handle({ deliveryId: 'simulated', payload });
  const [change] = changes;
  if (change) return decided(change, stacks);
  const [closing] = closings;
  if (closing) return nothing('ignored', `previews of #${closing.number} that are not over would end`);
  return nothing(state === 'failed' ? 'failed' : 'ignored', note);
}

function readerOf(payload: unknown, repository: Repository, checkout: Checkout): PullRequestReader {
  return {
    find: async () => ({ repository, ...parsePullRequest(told.parse(payload).pull_request) }),
    changedPaths: ({ pullRequest, headHash }) => checkout.changedPaths(pullRequest.base, headHash),
    headCommit: ({ headHash }) => Promise.resolve(noCommit(headHash)),
  };
}

async function decided(change: PullRequestChange, stacks: readonly Stack[]): Promise<Decision> {
  const { pullRequest, headHash } = change;
  const content = await change.read();
  const isWanted = (stack: Stack) => !change.isDraft || reasonAgainst(stack, pullRequest) !== null;
  const drafts = stacks.filter((stack) => !isWanted(stack));
  return {
    outcome: 'decided',
    reason: null,
    stacks: [
      ...selectForPullRequest(stacks.filter(isWanted), pullRequest, content).map(selectionOf),
      ...drafts.map(({ id }) => ({ stack: id, selected: false, reason: 'a draft starts nothing' })),
    ],
    changedPaths: changedOf(content.changedPaths),
    command: null,
    notes: [
      `would be asked: whether #${pullRequest.number} is open, with ${headHash.slice(0, 7)} as its head`,
      'would be asked: which files it changes (the checkout was looked at instead)',
      `would be asked: whether a bot made ${headHash.slice(0, 7)}`,
      'would be looked up: whether the commit has a run already',
      lookUpPolicies,
    ],
  };
}

export function selectionOf(selection: PullRequestSelection): StackDecision {
  const { stack, selected, reason } = selection;
  if (!selected) return { stack: stack.id, selected, reason };
  return { stack: stack.id, selected, reason, type: 'PROPOSED', trusted: !selection.isUntrusted };
}

/** Only who its author is bears on a decision, and that is GitHub's knowledge. */
export const noCommit = (hash: string) => ({
  commit: { hash, authorLogin: '', authorName: '', message: '', timestamp: 0, url: '' },
  author: null,
});

export const changedOf = (paths: readonly string[] | null): ChangedPaths =>
  paths === null ? { from: 'unknown', paths: [] } : { from: 'checkout', paths: paths.toSorted() };
