import type { Clock } from '../clock.ts';
import { isServersOwn, type Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Tx } from '../tx.ts';
import { decide, type Run, type RunCommand, type RunState } from './run.ts';
import type { Reactor } from './run-event.ts';
import type { NewRun, RunChange, RunStore } from './run-store.ts';

/**
 * The one place where a run's state changes. In the caller's transaction it asks the table, changes the
 * run by compare-and-set, writes the event, and lets every reactor write its rows. It sends nothing.
 */
export interface Transitions {
  create(tx: Tx, stack: Stack, run: NewRun, by: Omit<MoveDetails, 'change'>): Promise<Run | 'duplicate'>;
  move(tx: Tx, run: Run, command: RunCommand, by: MoveDetails): Promise<MoveResult>;
}

export interface MoveDetails {
  readonly actor: string;
  readonly note: string | null;
  readonly change?: Omit<RunChange, 'state' | 'note'>;
}

export type MoveResult =
  | { readonly kind: 'moved'; readonly run: Run }
  /** The table says no, or somebody was faster: this is where the run stands. */
  | { readonly kind: 'refused'; readonly state: RunState; readonly stateVersion: number }
  /** Another blocking run of the stack is active. */
  | { readonly kind: 'blocked' };

export function createTransitions(parts: {
  runs: RunStore;
  stacks: StackStore;
  reactors: readonly Reactor[];
  clock: Clock;
}): Transitions {
  const { runs, stacks, clock } = parts;

  async function record(tx: Tx, run: Run, stack: Stack, actor: string, note: string | null): Promise<void> {
    const timestampMs = clock.nowMs();
    const { state, stateVersion } = run;
    await runs.insertEvent(tx, run.id, { state, stateVersion, timestampMs, actor, note });
    for (const react of parts.reactors) await react(tx, { run, stack, timestampMs, actor, note });
  }

  async function lockAfterLoss(tx: Tx, run: Run, was: RunState): Promise<void> {
    const covered = (await stacks.findByKey(run.stackKey, tx))?.lock;
    await stacks.setLock(tx, run.stackKey, {
      holder: 'slipway',
      holderKey: '',
      kind: 'system',
      reason: `A worker was lost in ${was}. Check the real state, then unlock the stack.`,
      run: run.id,
      sinceMs: clock.nowMs(),
      ...(covered && !isServersOwn(covered) ? { covers: covered } : {}),
    });
  }

  return {
    async create(tx, stack, input, { actor, note }) {
      const run = await runs.insert(tx, input);
      if (run === 'duplicate') return run;
      await record(tx, run, stack, actor, note);
      return run;
    },

    async move(tx, run, command, by) {
      const decision = decide(run, command);
      if (decision.kind === 'refused') {
        return { kind: 'refused', state: run.state, stateVersion: run.stateVersion };
      }
      const changed = await runs.change(tx, run.id, run.stateVersion, {
        state: decision.to,
        note: by.note,
        ...by.change,
      });
      if (changed === 'blocked') return { kind: 'blocked' };
      if (changed === null) {
        const now = (await runs.find(run.id, tx)) ?? run;
        return { kind: 'refused', state: now.state, stateVersion: now.stateVersion };
      }
      if (decision.locksStack) await lockAfterLoss(tx, changed, run.state);
      const stack = await stacks.findByKey(run.stackKey, tx);
      if (!stack) throw new Error(`run ${run.id} has no stack`);
      await record(tx, changed, stack, by.actor, by.note);
      return { kind: 'moved', run: changed };
    },
  };
}
