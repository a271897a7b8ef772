import { type PullRequestChange, reasonAgainst, selectForPullRequest } from '../stacks/pull-request.ts';
import type { PushJudge } from '../stacks/push-judge.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import { attachPullRequest } from './attach-pull-request.ts';
import type { RunCommands } from './commands.ts';
import type { JudgedEvents } from './judged-events.ts';
import { createJudgePullRequest } from './judged-pull-requests.ts';
import { createOutcomeNotes } from './outcome-notes.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';
import type { Transitions } from './transition.ts';
import { type ShowUnaffected, showIfWanted } from './unaffected.ts';

/** What pull requests do to runs: their head commits are previewed, and closing them ends that. */
export interface PullRequests {
  /**
   * Of one that is open: which runs were made, and why none of the other stacks of the repository, by reason. Safe
   * to repeat. Rejects when GitHub cannot be asked: try again.
   */
  changed(change: PullRequestChange, deliveryId: string): Promise<readonly string[]>;
  /** Ends its previews that are not over; says which. */
  closed(closing: PullRequestClosing): Promise<readonly string[]>;
  /** Whether push policies judge one of the stacks of the repository: they hear of all that happens to one. */
  isJudged(repositoryId: number): Promise<boolean>;
}

export interface PullRequestClosing {
  readonly repositoryId: number;
  readonly number: number;
  /** Login of who closed or merged it. */
  readonly by: string;
}

export function createPullRequests(parts: {
  stacks: StackStore;
  runs: RunStore;
  commands: Pick<RunCommands, 'create'>;
  source: Pick<Source, 'compare'>;
  pushJudge: Pick<PushJudge, 'judged'>;
  judgedEvents: JudgedEvents;
  unaffected: ShowUnaffected;
  transitions: Transitions;
  transactions: Transactions;
}): PullRequests {
  const { stacks, runs, commands, pushJudge, transitions, transactions } = parts;
  const judgePullRequest = createJudgePullRequest(parts);

  async function preview(stack: Stack, change: PullRequestChange, content: Content, deliveryId: string) {
    const { login, email } = change.sender;
    const run = await commands.create({
      stackKey: stack.key,
      type: 'PROPOSED',
      branch: change.branch,
      commit: content.head,
      pullRequest: change.pullRequest,
      isUntrusted: content.isUntrusted,
      by: { kind: 'person', login, email },
      dedupeKey: `pull-request:${deliveryId}`,
      unlessCommitHas: 'any',
      supersedes: true,
    });
    if (run === 'duplicate') return 'there is a run for this commit already';
    return `PROPOSED run ${run.id}${run.isUntrusted ? ' without secrets' : ''}`;
  }

  async function leaveOut(stack: Stack, commit: string, reason: string): Promise<string> {
    await showIfWanted(parts, { stack, commit, type: 'PROPOSED', reason });
    return reason;
  }

  /** What a push made of its commit becomes one of the pull request. Null without one. */
  async function attach(stack: Stack, { pullRequest, headHash }: PullRequestChange): Promise<Run | null> {
    return transactions.write(async (tx) => {
      const newest = await runs.newestOfCommit(stack.key, 'PROPOSED', headHash, 'any', tx);
      return newest && attachPullRequest(runs, tx, newest, pullRequest);
    });
  }

  /** Its pushes are previewed as those of any branch: those runs are of the draft. */
  async function ofDraft(stack: Stack, change: PullRequestChange): Promise<string> {
    const run = await attach(stack, change);
    return run ? `a draft starts nothing; run ${run.id} is of its commit` : 'a draft starts nothing';
  }

  /** What came of it for each stack that push policies judge. */
  async function judged(all: readonly Stack[], change: PullRequestChange, deliveryId: string) {
    const keys = await pushJudge.judged(all);
    const stacks = all.filter(({ key }) => keys.has(key));
    if (stacks.length === 0) return new Map<string, string>();
    const outcomes = await judgePullRequest(stacks, change, await change.read(), deliveryId);
    if (change.details.state !== 'open') return outcomes;
    for (const stack of stacks) await attach(stack, change);
    return outcomes;
  }

  async function close(stack: Stack, { number, by }: PullRequestClosing): Promise<readonly Run[]> {
    return transactions.write(async (tx) => {
      const unfinished = await runs.unfinished(stack.key, tx);
      const note = `pull request #${number} was closed`;
      const details = { actor: by, note, change: { outcome: 'pull_request_closed' } } as const;
      const ended: Run[] = [];
      for (const run of unfinished) {
        if (run.pullRequest?.number !== number) continue;
        const moved = await transitions.move(tx, run, { kind: 'withdraw' }, details);
        if (moved.kind === 'moved') ended.push(moved.run);
      }
      return ended;
    });
  }

  return {
    async changed(change, deliveryId) {
      const { repositoryId, pullRequest, isDraft } = change;
      const notes = createOutcomeNotes();
      const all = await stacks.ofRepository(repositoryId);
      const outcomes = await judged(all, change, deliveryId);
      const candidates: Stack[] = [];
      for (const stack of all) {
        const outcome = outcomes.get(stack.key) ?? reasonBefore(stack, change);
        if (outcome !== null) notes.add(stack.id, outcome);
        else if (isDraft) notes.add(stack.id, await ofDraft(stack, change));
        else candidates.push(stack);
      }
      // Most pull requests of an account concern no stack: those cost no further question.
      if (candidates.length === 0) return notes.all();
      const content = await change.read();
      for (const selection of selectForPullRequest(candidates, pullRequest, content)) {
        const { stack } = selection;
        const outcome = selection.selected
          ? await preview(stack, change, { head: content.head, ...selection }, deliveryId)
          : await leaveOut(stack, content.head.hash, selection.reason);
        notes.add(stack.id, outcome);
      }
      return notes.all();
    },

    async isJudged(repositoryId) {
      return (await pushJudge.judged(await stacks.ofRepository(repositoryId))).size > 0;
    },

    async closed(closing) {
      const notes: string[] = [];
      for (const stack of await stacks.ofRepository(closing.repositoryId)) {
        const ended = await close(stack, closing);
        notes.push(...ended.map(({ id, state }) => `${stack.id}: run ${id} is ${state}`));
      }
      return notes.length > 0 ? notes : [`no preview of #${closing.number} was under way`];
    },
  };
}

/** Of a stack that no push policy judges: why the pull request is of no interest, whatever is in it. */
const reasonBefore = (stack: Stack, { pullRequest, details, onlyForPolicies }: PullRequestChange) =>
  onlyForPolicies ? `nothing is done for the action ${details.action}` : reasonAgainst(stack, pullRequest);

interface Content {
  readonly head: Run['commit'];
  readonly isUntrusted: boolean;
}
