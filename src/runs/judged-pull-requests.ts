import { isUntrustedFor, type PullRequestChange, type PullRequestContent } from '../stacks/pull-request.ts';
import { factsOfPullRequest } from '../stacks/push-facts.ts';
import type { Stack } from '../stacks/stack.ts';
import type { JudgedEvents, JudgedStack, Start } from './judged-events.ts';
import { askBeforePromotion } from './promotion-rules.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/** What came of a pull request, by the key of each stack that push policies judge. */
export type JudgePullRequest = (
  stacks: readonly Stack[],
  change: PullRequestChange,
  content: PullRequestContent,
  deliveryId: string,
) => Promise<ReadonlyMap<string, string>>;

export function createJudgePullRequest(parts: {
  readonly judgedEvents: JudgedEvents;
  readonly runs: Pick<RunStore, 'newestFinished' | 'unfinished' | 'newestOfCommit'>;
  readonly source: Pick<Source, 'compare'>;
}): JudgePullRequest {
  const { judgedEvents } = parts;

  async function startOf(
    { stack, decision }: JudgedStack,
    { branch, pullRequest, sender }: PullRequestChange,
    { head: commit, bots }: PullRequestContent,
    deliveryId: string,
  ): Promise<Start> {
    const type = decision.start;
    if (type === null) return { refused: decision.reason };
    const run = {
      ...{ stackKey: stack.key, type, branch, commit, pullRequest },
      by: { kind: 'person', ...sender },
      dedupeKey: `pull-request:${deliveryId}`,
    } as const;
    if (type === 'PROPOSED') {
      const isUntrusted = isUntrustedFor(stack, pullRequest, bots);
      return { run: { ...run, isUntrusted, unlessCommitHas: 'any', supersedes: true } };
    }
    const tracked = { ...run, unlessCommitHas: 'newest' } as const;
    if (branch === stack.settings.branch) return { run: tracked };
    return { run: tracked, against: await askBeforePromotion(parts, stack, commit.hash) };
  }

  return async (stacks, change, content, deliveryId) => {
    const event = { kind: 'pull_request', change, content } as const;
    const judged = await judgedEvents.judge(stacks, event, (stack) =>
      factsOfPullRequest(stack, change, content),
    );
    const outcomes = new Map<string, string>();
    for (const each of judged.values()) {
      const start = await startOf(each, change, content, deliveryId);
      const shown = { commit: content.head.hash, type: 'PROPOSED' } as const;
      const { note } = await judgedEvents.act(each, start, shown);
      outcomes.set(each.stack.key, note);
    }
    return outcomes;
  };
}
