import { reasonAgainstGroup, selectForMergeGroup } from '../stacks/merge-group.ts';
import { factsOfGroup } from '../stacks/push-facts.ts';
import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import type { CreateRun, RunCommands } from './commands.ts';
import type { JudgedEvents } from './judged-events.ts';
import { createOutcomeNotes } from './outcome-notes.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';
import type { Transitions } from './transition.ts';
import type { ShowUnaffected } from './unaffected.ts';

/**
 * What a merge queue does to runs: the commit that would be merged is previewed before it is. Who may put something in
 * the queue may merge it, so these previews have the secrets of what comes after the merge.
 */
export interface MergeGroups {
  /**
   * Which runs were made, and why none of the other stacks of the repository, by reason. Every stack that follows the
   * base gets a check. Safe to repeat. Rejects when GitHub cannot be asked: try again.
   */
  requested(group: MergeGroup, deliveryId: string): Promise<readonly string[]>;
  /** Ends its previews that are not over; says which. */
  destroyed(group: DestroyedGroup): Promise<readonly string[]>;
}

export interface MergeGroup {
  readonly repositoryId: number;
  /** The temporary branch of the group. */
  readonly branch: string;
  readonly head: string;
  /** The branch that it is to be merged into. */
  readonly base: string;
  /** What the group is put on: a commit, or the base itself. */
  readonly onto: string;
  readonly by: { readonly login: string; readonly email: string };
}

export interface DestroyedGroup extends Pick<MergeGroup, 'repositoryId' | 'branch' | 'head'> {
  /** As GitHub says it: merged, invalidated, dequeued. */
  readonly reason: string;
}

export function createMergeGroups(parts: {
  stacks: Pick<StackStore, 'ofRepository'>;
  runs: Pick<RunStore, 'unfinishedPreviews'>;
  commands: Pick<RunCommands, 'create'>;
  source: Pick<Source, 'resolve' | 'changedPaths'>;
  judgedEvents: JudgedEvents;
  unaffected: ShowUnaffected;
  transitions: Transitions;
  transactions: Transactions;
}): MergeGroups {
  const { stacks, runs, commands, source, judgedEvents, transitions, transactions } = parts;

  const previewOf = (stack: Stack, group: MergeGroup, commit: Commit, deliveryId: string): CreateRun => ({
    stackKey: stack.key,
    type: 'PROPOSED',
    branch: group.branch,
    commit,
    by: { kind: 'person', ...group.by },
    dedupeKey: `merge-group:${deliveryId}`,
    // The push of the temporary branch may have been told first.
    unlessCommitHas: 'any',
  });

  async function preview(request: CreateRun) {
    const run = await commands.create(request);
    return run === 'duplicate' ? 'there is a run for this commit already' : `PROPOSED run ${run.id}`;
  }

  /** What came of it for each stack that push policies judge, by its key. */
  async function judged(
    followers: readonly Stack[],
    group: MergeGroup,
    { commit, changedPaths }: { readonly commit: Commit; readonly changedPaths: readonly string[] | null },
    deliveryId: string,
  ): Promise<ReadonlyMap<string, string>> {
    const { branch, head } = group;
    const push = { branch, head: commit, changedPaths, isForced: false, pusherLogin: group.by.login };
    const event = { kind: 'merge_group', push } as const;
    const outcomes = new Map<string, string>();
    for (const each of (await judgedEvents.judge(followers, event, () => factsOfGroup(branch))).values()) {
      const start = { run: previewOf(each.stack, group, commit, deliveryId) };
      // A queue waits for it.
      const shown = { commit: head, type: 'PROPOSED', always: true } as const;
      const { note } = await judgedEvents.act(each, start, shown);
      outcomes.set(each.stack.key, note);
    }
    return outcomes;
  }

  async function withdraw(stack: Stack, { branch, head, reason }: DestroyedGroup): Promise<readonly Run[]> {
    return transactions.write(async (tx) => {
      const note = `the merge group is gone: ${reason}`;
      const details = { actor: 'server', note, change: { outcome: 'merge_group_destroyed' } } as const;
      const ended: Run[] = [];
      for (const run of await runs.unfinishedPreviews(stack.key, branch, tx)) {
        if (run.commit.hash !== head) continue;
        const moved = await transitions.move(tx, run, { kind: 'withdraw' }, details);
        if (moved.kind === 'moved') ended.push(moved.run);
      }
      return ended;
    });
  }

  return {
    async requested(group, deliveryId) {
      const { repositoryId, base, onto, branch, head } = group;
      const notes = createOutcomeNotes();
      const all = await stacks.ofRepository(repositoryId);
      const followers = all.filter((stack) => reasonAgainstGroup(stack, base) === null);
      const [any] = followers;
      // Without one it costs no further question.
      const commit = any ? await source.resolve(any.repository, branch, head) : null;
      if (any && !commit) return [`${head.slice(0, 7)} is not on ${branch} any more`];
      const changedPaths = any ? await source.changedPaths(any.repository, onto, head) : null;
      const content = commit && { commit, changedPaths };
      const outcomes = content && (await judged(followers, group, content, deliveryId));
      for (const selection of selectForMergeGroup(all, base, changedPaths)) {
        const { stack, selected, reason } = selection;
        const outcome = outcomes?.get(stack.key);
        if (outcome !== undefined) {
          notes.add(stack.id, outcome);
          continue;
        }
        if (selected && commit)
          notes.add(stack.id, await preview(previewOf(stack, group, commit, deliveryId)));
        else notes.add(stack.id, reason);
        if (selected || !selection.getsCheck) continue;
        const unaffected = { stack, commit: head, type: 'PROPOSED', reason } as const;
        await transactions.write((tx) => parts.unaffected(tx, unaffected));
      }
      return notes.all();
    },

    async destroyed(group) {
      const notes: string[] = [];
      for (const stack of await stacks.ofRepository(group.repositoryId)) {
        const ended = await withdraw(stack, group);
        notes.push(...ended.map(({ id, state }) => `${stack.id}: run ${id} is ${state}`));
      }
      return notes.length > 0 ? notes : ['no preview of the group was under way'];
    },
  };
}
