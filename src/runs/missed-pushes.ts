import { factsOfPush } from '../stacks/push-facts.ts';
import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import { type Push, type SelectedStack, selectStacks } from '../stacks/trigger.ts';
import type { Transactions } from '../tx.ts';
import type { BranchHead, BranchHeadStore } from './branch-heads.ts';
import { changedByPush } from './changed-by-push.ts';
import type { RunCommands } from './commands.ts';
import type { JudgedEvents, JudgedStack, Start } from './judged-events.ts';
import type { Offers } from './offers.ts';
import { createOutcomeNotes } from './outcome-notes.ts';
import { createOutdated } from './outdated.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/** A branch that stacks follow has moved, and no push told of it. */
export interface MissedPush {
  readonly repositoryId: number;
  readonly branch: string;
  readonly known: BranchHead;
  readonly head: Commit;
  /** Ids of stacks that the repository file wants since then, and that never ran. */
  readonly newStacks?: readonly string[];
}

export const missedOutcomes = ['run', 'offered', 'skipped'] as const;
export type MissedOutcome = (typeof missedOutcomes)[number];

/** Whether runs are made of what was missed, or offered to people. */
export type MissedPushMode = 'run' | 'offer';

/** Makes of a push that was missed what the push would have made, or offers it. */
export interface MissedPushes {
  /**
   * What came of it for each stack that follows the branch, which is dealt with after that. Safe to repeat. Rejects
   * when GitHub cannot be asked: try again.
   */
  handle(
    missed: MissedPush,
  ): Promise<{ readonly notes: readonly string[]; readonly outcomes: readonly MissedOutcome[] }>;
}

/** What to do for a stack that is concerned. Pure. */
export function decideMissed(about: {
  readonly head: string;
  /** The newest TRACKED run of the stack. */
  readonly newest: Pick<Run, 'id' | 'commit'> | null;
  /** Why the commit comes too late; null when it does not. */
  readonly outdated: string | null;
  readonly mode: MissedPushMode;
}): { readonly do: MissedPushMode } | { readonly skip: string } {
  const { head, newest, outdated, mode } = about;
  if (newest?.commit.hash === head) return { skip: `there is run ${newest.id} for this commit already` };
  return outdated === null ? { do: mode } : { skip: outdated };
}

/** The pusher is unknown: the author of a commit can be forged. */
const nobody = { pusher: 'slipway', pusherLogin: 'slipway', pusherIsBot: false };

const missedNote = 'for a push that GitHub did not tell of';

/** A branch that is moved to and fro comes by the same commit again. */
const dedupeKeyOf = ({ branch, known, head }: MissedPush): string =>
  `missed:${branch}:${known.seenAtMs}:${head.hash}`;

export function createMissedPushes(parts: {
  stacks: StackStore;
  runs: Pick<RunStore, 'newestOfType' | 'newestOfBranch'>;
  commands: Pick<RunCommands, 'create'>;
  source: Pick<Source, 'compare' | 'resolve' | 'changedPaths'>;
  branchHeads: BranchHeadStore;
  offers: Offers;
  judgedEvents: JudgedEvents;
  mode: MissedPushMode;
  transactions: Transactions;
  clock: { nowMs(): number };
}): MissedPushes {
  const { stacks, runs, commands, source, branchHeads, offers, judgedEvents, mode, transactions } = parts;
  const outdated = createOutdated(parts);

  async function asPush(missed: MissedPush, [any]: readonly Stack[]): Promise<Push> {
    const { repositoryId, branch, known, head, newStacks = [] } = missed;
    const before = known.hash;
    // A commit that is not there any more was moved away from.
    const relation = before && any && (await source.compare(any.repository, before, head.hash));
    const isForced = before !== null && relation !== 'ahead';
    return { ...nobody, repositoryId, branch, head, before, isForced, changedPaths: null, newStacks };
  }

  async function act(selected: Pick<SelectedStack, 'stack' | 'reason'>, push: Push, missed: MissedPush) {
    const { stack, reason } = selected;
    const { head, branch } = push;
    const newest = await runs.newestOfType(stack.key, 'TRACKED');
    const decision = decideMissed({
      head: head.hash,
      newest,
      outdated: await outdated(stack, 'TRACKED', push),
      mode,
    });
    if ('skip' in decision) return { outcome: 'skipped' as const, note: decision.skip };
    if (decision.do === 'offer') {
      const isOffered = await transactions.write(async (tx) => {
        // While GitHub was asked: the push was told after all, or somebody did not wait for it.
        if ((await runs.newestOfType(stack.key, 'TRACKED', tx))?.id !== newest?.id) return false;
        await offers.offer(tx, { stack, commit: head, reason });
        return true;
      });
      return isOffered
        ? { outcome: 'offered' as const, note: 'a TRACKED run is offered' }
        : { outcome: 'skipped' as const, note: 'a run was made meanwhile' };
    }
    const run = await commands.create({
      ...{ stackKey: stack.key, type: 'TRACKED', branch, commit: head },
      ...{ by: { kind: 'server' }, note: missedNote },
      dedupeKey: dedupeKeyOf(missed),
      unlessCommitHas: 'newest',
    });
    if (run === 'duplicate') {
      return { outcome: 'skipped' as const, note: 'there is a run for this commit already' };
    }
    return { outcome: 'run' as const, note: `TRACKED run ${run.id}` };
  }

  /** Of a stack that push policies judge. What is offered locks nothing: a person decides about it. */
  async function judgedAct(judged: JudgedStack, push: Push, missed: MissedPush) {
    const { stack, decision } = judged;
    if (decision.start === 'TRACKED' && mode === 'offer') {
      await transactions.write((tx) => judged.judgement.record(tx, null));
      return act({ stack, reason: decision.reason }, push, missed);
    }
    const start = await judgedStart(judged, push, missed);
    const shown = { commit: push.head.hash, type: 'TRACKED' } as const;
    const { note, hasRun } = await judgedEvents.act(judged, start, shown);
    return { outcome: hasRun ? 'run' : 'skipped', note } as const;
  }

  async function judgedStart(
    { stack, decision }: JudgedStack,
    push: Push,
    missed: MissedPush,
  ): Promise<Start> {
    const type = decision.start;
    if (type === null) return { refused: decision.reason };
    const late = await outdated(stack, type, push);
    if (late !== null) return { refused: late };
    const { branch, head: commit } = push;
    const of = { stackKey: stack.key, branch, commit, note: missedNote, dedupeKey: dedupeKeyOf(missed) };
    const unlessCommitHas = type === 'TRACKED' ? 'newest' : 'any';
    return { run: { ...of, type, by: { kind: 'server' }, unlessCommitHas } };
  }

  /** Unless a push was handled meanwhile. */
  async function dealtWith({ repositoryId, branch, known, head }: MissedPush): Promise<void> {
    await transactions.write(async (tx) => {
      const now = await branchHeads.find(repositoryId, branch, tx);
      if (now?.hash !== known.hash) return;
      await branchHeads.save(tx, repositoryId, branch, {
        hash: head.hash,
        seenAtMs: parts.clock.nowMs(),
      });
    });
  }

  return {
    async handle(missed) {
      const notes = createOutcomeNotes();
      const outcomes: MissedOutcome[] = [];
      const all = await stacks.ofRepository(missed.repositoryId);
      const followers = all.filter(({ settings }) => settings.branch === missed.branch);
      const push = await asPush(missed, followers);
      for (const changed of await changedByPush(source, followers, push)) {
        const known = { ...push, changedPaths: changed.changedPaths };
        const judged = await judgedEvents.judge(changed.stacks, { kind: 'push', push: known }, (stack) =>
          factsOfPush(stack, known),
        );
        for (const each of judged.values()) {
          const { outcome, note } = await judgedAct(each, known, missed);
          outcomes.push(outcome);
          notes.add(each.stack.id, note);
        }
        const others = changed.stacks.filter(({ key }) => !judged.has(key));
        for (const selection of selectStacks(others, known)) {
          const { outcome, note } = selection.selected
            ? await act(selection, known, missed)
            : { outcome: 'skipped' as const, note: selection.reason };
          outcomes.push(outcome);
          notes.add(selection.stack.id, note);
        }
      }
      await dealtWith(missed);
      return { notes: notes.all(), outcomes };
    },
  };
}
