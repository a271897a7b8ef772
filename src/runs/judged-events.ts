import type { Clock } from '../clock.ts';
import { changeLock } from '../stacks/policy-lock.ts';
import { decidePush, type PushDecision, type PushFacts } from '../stacks/push-decision.ts';
import type { PushEvent, PushJudge, PushJudgement } from '../stacks/push-judge.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { CreateRun, RunCommands } from './commands.ts';
import { putFirst } from './put-first.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Transitions } from './transition.ts';
import type { ShowUnaffected, Unaffected } from './unaffected.ts';

/** What push policies decide, and doing it: of a push, a pull request, a merge group. */
export interface JudgedEvents {
  /** By the key of the stack: those that policies judge, of these that can be reached. Outside of any transaction. */
  judge(
    stacks: readonly Stack[],
    event: PushEvent,
    factsOf: (stack: Stack) => PushFacts,
  ): Promise<ReadonlyMap<string, JudgedStack>>;
  /** All of it in one transaction. */
  act(judged: JudgedStack, start: Start, shown: Shown): Promise<Acted>;
}

export interface JudgedStack {
  readonly stack: Stack;
  readonly judgement: PushJudgement;
  readonly decision: PushDecision;
}

export interface Acted {
  /** What came of it, for people. */
  readonly note: string;
  readonly hasRun: boolean;
}

/** Where it is shown that nothing starts. */
export interface Shown extends Pick<Unaffected, 'commit' | 'type'> {
  /** Somebody waits for an answer, whatever the stack wants to be shown. */
  readonly always?: true;
}

/** How the run is made that the policies want, or why none is made. */
export type Start =
  | {
      readonly run: CreateRun;
      /** What speaks against it, asked in the transaction. */
      readonly against?: (tx: Tx) => Promise<string | null>;
    }
  | { readonly refused: string };

export interface JudgedEventsParts {
  readonly pushJudge: PushJudge;
  readonly stacks: Pick<StackStore, 'findByKey' | 'setLock'>;
  readonly runs: Pick<RunStore, 'find' | 'firstQueued' | 'setPriority'>;
  readonly commands: Pick<RunCommands, 'create'>;
  readonly transitions: Pick<Transitions, 'move'>;
  readonly unaffected: ShowUnaffected;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Called after a lock was taken away: runs may go on. */
  readonly onUnlock: (stackKey: string) => void;
}

/** A policy names the runs that its event makes useless: never hundreds. */
const mostCanceled = 100;

export function createJudgedEvents(parts: JudgedEventsParts): JudgedEvents {
  const { runs, stacks, commands, transitions, transactions, clock } = parts;

  /** Who holds the lock that the policies want; null when nothing stands against a run. */
  async function lock(tx: Tx, { stack, decision }: JudgedStack): Promise<string | null> {
    if (decision.lock === null && decision.unlock.length === 0) return null;
    const now = (await stacks.findByKey(stack.key, tx))?.lock ?? null;
    const changed = changeLock(now, decision, clock.nowMs());
    if (changed.isChanged) {
      await stacks.setLock(tx, stack.key, changed.lock);
      tx.afterCommit(() => parts.onUnlock(stack.key));
    }
    return changed.heldBy && `the stack is locked by ${changed.heldBy}`;
  }

  async function cancel(tx: Tx, id: string, made: Run): Promise<string | null> {
    const run = await runs.find(id, tx);
    if (run?.stackKey !== made.stackKey) return `${id} is no run of the stack`;
    if (run.id === made.id) return null;
    const note = `canceled by a push policy, for run ${made.id}`;
    const by = { actor: 'server', note };
    const moved =
      run.type === 'PROPOSED'
        ? // Told of again, its commit is previewed again.
          await transitions.move(tx, run, { kind: 'withdraw' }, { ...by, change: { outcome: 'superseded' } })
        : await transitions.move(tx, run, { kind: 'cancel' }, by);
    return moved.kind === 'moved' ? `run ${id} is ${moved.run.state}` : `run ${id} stays ${run.state}`;
  }

  /** The run, or why there is none. */
  async function make(tx: Tx, judged: JudgedStack, start: Start): Promise<Run | string> {
    const { decision } = judged;
    const heldBy = await lock(tx, judged);
    if (decision.start === null) return decision.reason;
    if ('refused' in start) return start.refused;
    const against = heldBy ?? (await start.against?.(tx)) ?? null;
    if (against !== null) return against;
    const run = await commands.create(start.run, tx);
    return run === 'duplicate' ? 'there is a run for this commit already' : run;
  }

  async function follow(tx: Tx, run: Run, { prioritize, cancel: ids }: PushDecision): Promise<string> {
    if (prioritize) await putFirst(runs, tx, run);
    const ended: string[] = [];
    for (const id of ids.slice(0, mostCanceled)) {
      const note = await cancel(tx, id, run);
      if (note !== null) ended.push(note);
    }
    const what = `${run.type} run ${run.id}${run.isUntrusted ? ' without secrets' : ''}`;
    return [what, ...ended].join(', ');
  }

  async function show(tx: Tx, judged: JudgedStack, { commit, type, always }: Shown, reason: string) {
    const { stack, decision } = judged;
    const { shows, messages } = decision;
    if (shows === null && !always && !stack.settings.unaffectedChecks) return;
    const policies = { isFailure: shows === 'failure', messages };
    await parts.unaffected(tx, { stack, commit, type, reason, policies });
  }

  return {
    async judge(all, event, factsOf) {
      const within = all.filter(({ away }) => away === undefined);
      const judgements = await parts.pushJudge.judge(within, event);
      const judged = within.flatMap((stack): [string, JudgedStack][] => {
        const judgement = judgements.get(stack.key);
        if (!judgement) return [];
        const decision = decidePush(judgement.said, factsOf(stack), stack.settings);
        return [[stack.key, { stack, judgement, decision }]];
      });
      return new Map(judged);
    },

    act: (judged, start, shown) =>
      transactions.write(async (tx) => {
        const made = await make(tx, judged, start);
        if (typeof made === 'string') {
          await judged.judgement.record(tx, null);
          await show(tx, judged, shown, made);
          return { note: made, hasRun: false };
        }
        const note = await follow(tx, made, judged.decision);
        await judged.judgement.record(tx, made.id);
        return { note, hasRun: true };
      }),
  };
}
