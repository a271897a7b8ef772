import type { Logger } from '../logger.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { ApprovalJobs } from './approvals/approval-jobs.ts';
import type { Gates } from './approvals/gates.ts';
import { readLine } from './blocker.ts';
import { isTerminal, type Run } from './run.ts';
import type { Reactor } from './run-event.ts';
import type { RunStore } from './run-store.ts';
import type { Transitions } from './transition.ts';

/**
 * Decides which waiting runs may go on: QUEUED to READY. It is fair (priority, then age, one blocking run
 * of a stack at a time), and asks the gate of approval policies; that two never run at once is the database's partial
 * unique index.
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

export function createScheduler(parts: {
  runs: RunStore;
  stacks: StackStore;
  /** Given late: transitions need this scheduler's reactor. */
  transitions: () => Transitions;
  gates: Gates;
  approvalJobs: Pick<ApprovalJobs, 'judge'>;
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
      if (!(await isApproved(tx, run))) continue;
      await parts.transitions().move(tx, run, { kind: 'make-ready' }, { actor: 'server', note: null });
    }
  }

  /** A run whose turn it is keeps its place while it waits for that. */
  async function isApproved(tx: Tx, run: Run): Promise<boolean> {
    const standing = await parts.gates.standing(run, tx);
    if (standing.kind === 'shut' && standing.isUnjudged) await parts.approvalJobs.judge(tx, run.id);
    return standing.kind === 'open';
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
