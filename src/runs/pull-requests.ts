import { type PullRequestChange, reasonAgainst, selectForPullRequest } from '../stacks/pull-request.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import { attachPullRequest } from './attach-pull-request.ts';
import type { RunCommands } from './commands.ts';
import { createOutcomeNotes } from './outcome-notes.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
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
  unaffected: ShowUnaffected;
  transitions: Transitions;
  transactions: Transactions;
}): PullRequests {
  const { stacks, runs, commands, transitions, transactions } = parts;

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

  /** Its pushes are previewed as those of any branch: those runs are of the draft. */
  async function ofDraft(stack: Stack, { pullRequest, headHash }: PullRequestChange): Promise<string> {
    const run = await transactions.write(async (tx) => {
      const newest = await runs.newestOfCommit(stack.key, 'PROPOSED', headHash, 'any', tx);
      return newest && attachPullRequest(runs, tx, newest, pullRequest);
    });
    return run ? `a draft starts nothing; run ${run.id} is of its commit` : 'a draft starts nothing';
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
      const candidates: Stack[] = [];
      for (const stack of await stacks.ofRepository(repositoryId)) {
        const against = reasonAgainst(stack, pullRequest);
        if (against !== null) notes.add(stack.id, against);
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

interface Content {
  readonly head: Run['commit'];
  readonly isUntrusted: boolean;
}
