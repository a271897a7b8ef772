import type { Actor } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import { factsOfPush } from '../stacks/push-facts.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import {
  isUntrustedPush,
  type LeftOutStack,
  type Push,
  type SelectedStack,
  selectStacks,
  typeOfPush,
} from '../stacks/trigger.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { type BranchHeadStore, isDealtWith, isNext } from './branch-heads.ts';
import { changedByPush } from './changed-by-push.ts';
import type { RunCommands } from './commands.ts';
import type { JudgedEvents, JudgedStack, Start } from './judged-events.ts';
import { createOutcomeNotes } from './outcome-notes.ts';
import { createOutdated } from './outdated.ts';
import { askBeforePromotion } from './promotion-rules.ts';
import { requireTracked } from './requirements.ts';
import type { Run, RunType } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';
import { type ShowUnaffected, showIfWanted } from './unaffected.ts';
import { isUntrustedHead } from './untrusted-head.ts';

/** What makes runs: pushes and people. */
export interface Triggers {
  /**
   * Which runs were made, and why none of the other stacks of the repository, by reason: no stack is left out. Safe
   * to repeat. Rejects when GitHub cannot be asked: try again.
   */
  push(push: Push, deliveryId: string): Promise<readonly string[]>;
  /** Rejects with `commit-not-found`, `commit-not-tracked` or `command-required`. */
  manual(stack: Stack, request: ManualTrigger, actor: Actor): Promise<Run>;
}

export interface ManualTrigger {
  readonly type: RunType;
  readonly branch?: string | undefined;
  readonly sha?: string | undefined;
  readonly command?: string | undefined;
}

export function createTriggers(parts: {
  stacks: StackStore;
  runs: RunStore;
  commands: RunCommands;
  source: Source;
  branchHeads: BranchHeadStore;
  judgedEvents: JudgedEvents;
  unaffected: ShowUnaffected;
  transactions: Transactions;
  clock: Clock;
}): Triggers {
  const { stacks, commands, source, branchHeads, judgedEvents, transactions, clock } = parts;

  const outdated = createOutdated(parts);

  async function startFromPush(selected: SelectedStack, push: Push, deliveryId: string) {
    const { stack, type, isUntrusted } = selected;
    const reason = await outdated(stack, type, push);
    if (reason !== null) return reason;
    const isFirst = type === 'TRACKED' && push.newStacks?.includes(stack.id);
    const run = await commands.create({
      stackKey: stack.key,
      type,
      branch: push.branch,
      commit: (isFirst && push.headNow) || push.head,
      isUntrusted,
      by: { kind: 'person', login: push.pusherLogin, email: push.pusher },
      dedupeKey: `push:${deliveryId}`,
      // TRACKED: suppressed only for the very commit of the newest run, so that a rollback A, B, A runs.
      ...(type === 'TRACKED'
        ? { unlessCommitHas: 'newest' as const }
        : { unlessCommitHas: 'any' as const, supersedes: true }),
    });
    if (run === 'duplicate') return 'there is a run for this commit already';
    return `${type} run ${run.id}${isUntrusted ? ' without secrets' : ''}`;
  }

  /** Of a stack that push policies judge. */
  async function judgedStart(
    { stack, decision }: JudgedStack,
    push: Push,
    deliveryId: string,
  ): Promise<Start> {
    const { branch, head: commit } = push;
    const type = decision.start;
    if (type === null) return { refused: decision.reason };
    const late = await outdated(stack, type, push);
    if (late !== null) return { refused: late };
    const run = {
      ...{ stackKey: stack.key, type, branch, commit },
      by: { kind: 'person', login: push.pusherLogin, email: push.pusher },
      dedupeKey: `push:${deliveryId}`,
    } as const;
    if (type === 'PROPOSED') {
      const isUntrusted = isUntrustedPush(stack, type, push);
      return { run: { ...run, isUntrusted, unlessCommitHas: 'any', supersedes: true } };
    }
    const tracked = { ...run, unlessCommitHas: 'newest' } as const;
    if (branch === stack.settings.branch) return { run: tracked };
    return { run: tracked, against: await askBeforePromotion(parts, stack, commit.hash) };
  }

  async function remember(push: Push): Promise<void> {
    const { repositoryId, branch, head } = push;
    await transactions.write(async (tx) => {
      if (!isNext(await branchHeads.find(repositoryId, branch, tx), push)) return;
      await branchHeads.save(tx, repositoryId, branch, { hash: head.hash, seenAtMs: clock.nowMs() });
    });
  }

  async function leaveOut({ stack, reason }: LeftOutStack, push: Push): Promise<string> {
    await showIfWanted(parts, { stack, type: typeOfPush(stack, push), commit: push.head.hash, reason });
    return reason;
  }

  return {
    async push(push, deliveryId) {
      const notes = createOutcomeNotes();
      const all = await stacks.ofRepository(push.repositoryId);
      for (const changed of await changedByPush(source, all, push)) {
        const known = { ...push, changedPaths: changed.changedPaths };
        const judged = await judgedEvents.judge(changed.stacks, { kind: 'push', push: known }, (stack) =>
          factsOfPush(stack, known),
        );
        for (const each of judged.values()) {
          const start = await judgedStart(each, known, deliveryId);
          const shown = { commit: push.head.hash, type: typeOfPush(each.stack, push) };
          const { note } = await judgedEvents.act(each, start, shown);
          notes.add(each.stack.id, note);
        }
        const others = changed.stacks.filter(({ key }) => !judged.has(key));
        for (const selection of selectStacks(others, known)) {
          const outcome = selection.selected
            ? await startFromPush(selection, push, deliveryId)
            : await leaveOut(selection, push);
          notes.add(selection.stack.id, outcome);
        }
      }
      if (isDealtWith(all, push)) await remember(push);
      return notes.all();
    },

    async manual(stack, request, actor) {
      if (request.type === 'TASK' && (!request.command?.trim() || request.command.includes('\0'))) {
        throw new UserError('command-required', 'A task needs a command.', {
          issues: [{ path: 'command', message: 'required for a run of type TASK, without NUL characters' }],
        });
      }
      const { settings, repository } = stack;
      const branch = request.branch ?? settings.branch;
      requireTracked(settings, request.type, branch);
      const commit = await source.resolve(repository, branch, request.sha ?? null);
      if (!commit) {
        const what =
          request.sha === undefined ? `The branch ${branch}` : `The commit ${request.sha} on ${branch}`;
        throw new UserError('commit-not-found', `${what} was not found in ${repository.fullName}.`, {
          issues: [{ path: request.sha === undefined ? 'branch' : 'sha', message: 'not found' }],
        });
      }
      const isUntrusted =
        request.type === 'PROPOSED' && (await isUntrustedHead(parts.runs, stack, { branch, head: commit }));
      const run = await commands.create({
        ...{ stackKey: stack.key, type: request.type, branch, commit, isUntrusted },
        by: actor,
        ...(request.type === 'TASK' && request.command ? { command: request.command } : {}),
        dedupeKey: null,
      });
      if (run === 'duplicate') throw new Error('a run without a dedupe key cannot be a duplicate');
      return run;
    },
  };
}
