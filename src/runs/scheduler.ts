import type { Logger } from '../logger.ts';
import { awayReason } from '../stacks/away.ts';
import { isLockedFor, type Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import { isBlocking, isTerminal, type Run } from './run.ts';
import type { Reactor } from './run-event.ts';
import type { RunStore } from './run-store.ts';
import type { Transitions } from './transition.ts';

/**
 * Decides which waiting runs may go on: QUEUED to READY. It is fair (priority, then age, one blocking run
 * of a stack at a time); that two never run at once is the database's partial unique index.
 */
export interface Scheduler {
  /** For the list of reactors: looks at the stack again after whatever happened to its run has committed. */
  readonly reactor: Reactor;
  /** Looks at one stack: after an unlock, or when a person changed a priority. */
  wake(stackKey: string): void;
  /** Looks at every stack that has a waiting run: at start, and now and then as a safety net. */
  sweep(): Promise<void>;
  /** Resolves when nothing it was woken for is left to do. */
  settled(): Promise<void>;
}

/** What keeps a waiting run back. */
export type Blocker =
  | { readonly kind: 'run'; readonly run: string; readonly state: Run['state'] }
  | { readonly kind: 'lock'; readonly holder: string; readonly reason: string }
  | { readonly kind: 'repository'; readonly reason: string };

/** The blocking runs of a stack, as far as they decide who is next. */
export interface Line {
  readonly active: Run | null;
  /** Of those whom the lock does not keep back: its holder locked the stack to be first. */
  readonly first: Run | null;
}

type LineStore = Pick<RunStore, 'activeRun' | 'firstQueued'>;

export async function readLine(runs: LineStore, { key, lock }: Stack, tx?: Tx): Promise<Line> {
  const first = lock?.kind === 'system' ? null : await runs.firstQueued(key, lock?.holderKey ?? null, tx);
  return { active: await runs.activeRun(key, tx), first };
}

/** Null when the run may go on. */
export function blockerOf(
  run: Run,
  { active, first }: Line,
  stack: Pick<Stack, 'lock' | 'away' | 'repository'>,
): Blocker | null {
  const away = awayReason(stack);
  if (away !== null) return { kind: 'repository', reason: away };
  if (!isBlocking(run.type)) return null;
  if (active && active.id !== run.id) return { kind: 'run', run: active.id, state: active.state };
  if (isLockedFor(stack.lock, run.startedBy)) {
    return { kind: 'lock', holder: stack.lock.holder, reason: stack.lock.reason };
  }
  return first && first.id !== run.id ? { kind: 'run', run: first.id, state: first.state } : null;
}

export function createScheduler(parts: {
  runs: RunStore;
  stacks: StackStore;
  /** Given late: transitions need this scheduler's reactor. */
  transitions: () => Transitions;
  transactions: Transactions;
  logger: Logger;
}): Scheduler {
  const { runs, stacks, logger } = parts;
  const pending = new Set<string>();
  let working: Promise<void> | null = null;

  async function scheduleStack(tx: Tx, stackKey: string): Promise<void> {
    const stack = await stacks.findByKey(stackKey, tx);
    // They wait until it is there again; the sweep finds it.
    if (!stack || stack.away) return;
    const { active, first } = await readLine(runs, stack, tx);
    const next = active === null && first !== null ? [first] : [];
    for (const run of [...next, ...(await runs.queuedPreviews(stackKey, tx))]) {
      await parts.transitions().move(tx, run, { kind: 'make-ready' }, { actor: 'server', note: null });
    }
  }

  async function work(): Promise<void> {
    for (let [stackKey] = pending; stackKey !== undefined; [stackKey] = pending) {
      pending.delete(stackKey);
      const key = stackKey;
      try {
        await parts.transactions.write((tx) => scheduleStack(tx, key));
      } catch (error) {
        // The sweep comes back to it; one broken stack must not hold up the others.
        logger.error({ err: error, stackKey: key }, 'scheduling a stack failed');
      }
    }
    working = null;
  }

  function wake(stackKey: string): void {
    pending.add(stackKey);
    working ??= Promise.resolve().then(work);
  }

  return {
    reactor: (tx, { run }) => {
      if (run.state === 'QUEUED' || isTerminal(run.state)) tx.afterCommit(() => wake(run.stackKey));
      return Promise.resolve();
    },
    wake,
    async sweep() {
      for (const stackKey of await runs.stacksWithQueued()) wake(stackKey);
    },
    async settled() {
      while (working !== null) await working;
    },
  };
}
