import type { Logger } from '../logger.ts';
import type { Transactions } from '../tx.ts';
import type { Job, JobQueue } from './job-queue.ts';
import { type PhaseJob, phaseQueue } from './phase-jobs.ts';
import { changesTheWorld, isTerminal, maxRestarts, type Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { MoveDetails, Transitions } from './transition.ts';

/**
 * What becomes of the runs of lost workers: the first half of a run starts again, a half that may have
 * changed the world never does (docs/runs.md, "When things break").
 */
export interface Recovery {
  /** At the start of the only server of the database: every lease of its former life ends. */
  start(): Promise<void>;
  /** Now and then: leases that ran out while the server lives. */
  sweep(): Promise<void>;
}

export function createRecovery(parts: {
  runs: RunStore;
  queue: JobQueue;
  transitions: Transitions;
  transactions: Transactions;
  logger: Logger;
}): Recovery {
  const { runs, queue, transitions, transactions, logger } = parts;

  async function recoverOne(job: Job): Promise<void> {
    const { runId } = job.data as PhaseJob;
    await transactions.write(async (tx) => {
      const run = await runs.find(runId, tx);
      if (run && !isTerminal(run.state)) {
        const moved = await transitions.move(
          tx,
          run,
          { kind: 'lose-worker' },
          {
            actor: 'server',
            ...consequence(run),
          },
        );
        logger.warn({ run: runId, was: run.state, now: moved }, 'a worker was lost');
      }
      await queue.release(tx, job);
    });
  }

  async function sweep(): Promise<void> {
    const expired = await transactions.write((tx) => queue.expired(tx, phaseQueue));
    for (const job of expired) await recoverOne(job);
  }

  return {
    async start() {
      await queue.expireAll();
      await sweep();
    },
    sweep,
  };
}

function consequence(run: Run): Pick<MoveDetails, 'note' | 'change'> {
  const lost = { outcome: 'worker_lost' } as const;
  if (changesTheWorld.has(run.state)) {
    return { note: `worker lost while ${run.state.toLowerCase()}; check the real state`, change: lost };
  }
  return run.restarts < maxRestarts
    ? { note: `worker lost in ${run.state}; started again`, change: { restarts: run.restarts + 1 } }
    : { note: `worker lost in ${run.state} ${maxRestarts + 1} times`, change: lost };
}
