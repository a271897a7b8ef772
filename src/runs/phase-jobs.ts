import type { JobQueue } from './job-queue.ts';
import { isBlocking, isTerminal, type Run } from './run.ts';
import type { Reactor } from './run-event.ts';

export const phaseQueue = 'phase';
export const jobKey = (runId: string): string => `run:${runId}`;

/** What a worker is to do with a run. `finish`: after_run hooks and removal of the workspace. */
export type Half = 'plan' | 'apply' | 'finish';

export interface PhaseJob {
  readonly runId: string;
  readonly half: Half;
}

/** What is left of runs that are over goes first: it is short, and makes room on the disk. */
export const finishPriority = 4_000_000;

/** Then blocking runs, then previews; a person's priority decides inside a class. */
function jobPriority(run: Run, half: Half): number {
  if (half === 'finish') return finishPriority;
  return (isBlocking(run.type) ? 2_000_000 : 1_000_000) + run.priority;
}

/**
 * Turns states into work. A run has at most one unfinished job: whoever holds it when the run ends also
 * finishes with the workspace, so the `finish` job of such a run is a duplicate and is not added.
 */
export function createPhaseJobs(parts: { queue: JobQueue }): Reactor {
  return async (tx, { run }) => {
    const half = halfFor(run);
    if (half !== null) {
      const data: PhaseJob = { runId: run.id, half };
      await parts.queue.enqueue(tx, {
        queue: phaseQueue,
        key: jobKey(run.id),
        priority: jobPriority(run, half),
        // At once, not "now": a clock that is set back must not put off what is due.
        runAtMs: 0,
        data,
      });
    } else if (isTerminal(run.state)) {
      await parts.queue.cancel(tx, phaseQueue, jobKey(run.id));
    }
  };
}

function halfFor(run: Run): Half | null {
  if (run.state === 'READY') return 'plan';
  if (run.state === 'CONFIRMED') return 'apply';
  return isTerminal(run.state) && run.hadWorker ? 'finish' : null;
}
