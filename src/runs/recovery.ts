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
  /**
   * After `start`: the runs whose workspace is opened again, because a person or the second half is awaited or
   * because their after_run hooks are due. Every other workspace is a leftover.
   */
  needingWorkspace(): Promise<ReadonlySet<string>>;
  /**
   * Now and then, but more rarely than workers renew (5 s): leases that ran out while the server lives. A
   * worker is given up at the second look that finds it silent. The first may only have found a clock that
   * was set, or a machine that slept, and an apply must not be ended for that.
   */
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
  let silent: ReadonlySet<string> = new Set();

  async function recoverOne(seen: Job): Promise<void> {
    const { runId } = seen.data as PhaseJob;
    await transactions.write(async (tx) => {
      // Its holder may have spoken up since, or be done with it.
      const job = (await queue.expired(tx, phaseQueue)).find((one) => nameOf(one) === nameOf(seen));
      if (!job) return;
      const run = await runs.find(runId, tx);
      if (run && !isTerminal(run.state)) {
        const by = { actor: 'server', ...consequence(run) };
        const moved = await transitions.move(tx, run, { kind: 'lose-worker' }, by);
        const now = moved.kind === 'moved' ? moved.run.state : moved.kind;
        logger.warn({ run: runId, was: run.state, now }, 'a worker was lost');
      }
      await queue.release(tx, job);
    });
  }

  async function recover(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) {
      try {
        await recoverOne(job);
      } catch (error) {
        // It stays expired, and the next sweep comes back to it; the others must not wait for that.
        logger.error({ err: error, job: job.id }, 'recovering a run failed');
      }
    }
  }

  const expired = () => transactions.write((tx) => queue.expired(tx, phaseQueue));

  return {
    async start() {
      await queue.expireAll();
      await recover(await expired());
    },
    async needingWorkspace() {
      const waiting = await runs.inState(['UNCONFIRMED', 'CONFIRMED']);
      const ids = new Set(waiting.map(({ id }) => id));
      for (const job of await transactions.write((tx) => queue.unfinished(tx, phaseQueue))) {
        const run = await runs.find((job.data as PhaseJob).runId);
        if (run && isTerminal(run.state)) ids.add(run.id);
      }
      return ids;
    },
    async sweep() {
      const jobs = await expired();
      const before = silent;
      silent = new Set(jobs.map(nameOf));
      await recover(jobs.filter((job) => before.has(nameOf(job))));
    },
  };
}

const nameOf = ({ id, attempt }: Job): string => `${id} ${attempt}`;

function consequence(run: Run): Pick<MoveDetails, 'note' | 'change'> {
  const lost = { outcome: 'worker_lost' } as const;
  if (changesTheWorld.has(run.state)) {
    return { note: `worker lost while ${run.state.toLowerCase()}; check the real state`, change: lost };
  }
  return run.restarts < maxRestarts
    ? { note: `worker lost in ${run.state}; started again`, change: { restarts: run.restarts + 1 } }
    : { note: `worker lost in ${run.state} ${maxRestarts + 1} times`, change: lost };
}
