import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { carryOut } from './execution.ts';
import type { WorkerOptions } from './run-context.ts';
import type { Assignment, LeaseStatus, ServerApi } from './server-api.ts';

/**
 * The claim loop: takes one assignment a slot, keeps its lease alive, and has it carried out
 * (execution.ts). It decides nothing about states: the server does, and may say that the run is over.
 */
export interface Worker {
  start(): void;
  /**
   * Claims nothing new and waits for what runs: `drainMs` for a first half, which is then handed back to
   * start again later; an apply is waited for, however long, because it cannot.
   */
  stop(drainMs: number): Promise<void>;
}

/** An idle slot asks again after so long, in case a wake-up was missed. */
const claimWaitMs = 1000;
/** Half a dozen beats fit into a lease (engine: 30 s). */
const defaultHeartbeatMs = 5000;

export function createWorker(options: WorkerOptions): Worker {
  const { server, logger, heartbeatMs = defaultHeartbeatMs } = options;
  const stopping = new AbortController();
  const draining = new AbortController();
  let slots: readonly Promise<void>[] = [];

  async function slot(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const what = (await options.hasRoom()) ? 'any' : 'finish';
        const assignment = await server.claim(what, claimWaitMs, stopping.signal);
        if (assignment) await hold(assignment);
      } catch (error) {
        logger.error({ err: error }, 'a worker slot failed');
        // Whatever it was may last: do not spin.
        await pause();
      }
    }
  }

  const pause = () => delay(claimWaitMs, undefined, { signal: stopping.signal }).catch(() => undefined);

  async function hold(assignment: Assignment): Promise<void> {
    const log = logger.child({ run: assignment.run.id, half: assignment.half });
    const end = { over: new AbortController(), lost: new AbortController() };
    const beating = new AbortController();
    const heart = keepAlive(server, assignment, { heartbeatMs, signal: beating.signal, end, log });
    try {
      const signals = { over: end.over.signal, lost: end.lost.signal, draining: draining.signal };
      await carryOut(options, assignment, signals, log);
    } finally {
      beating.abort();
      await heart;
    }
  }

  return {
    start() {
      slots = Array.from({ length: options.slots }, slot);
    },
    async stop(drainMs) {
      stopping.abort();
      const timer = setTimeout(() => draining.abort(), drainMs);
      await Promise.all(slots);
      clearTimeout(timer);
    },
  };
}

async function keepAlive(
  server: ServerApi,
  assignment: Assignment,
  options: {
    readonly heartbeatMs: number;
    readonly signal: AbortSignal;
    readonly end: { readonly over: AbortController; readonly lost: AbortController };
    readonly log: Logger;
  },
): Promise<void> {
  const { heartbeatMs, signal, end, log } = options;
  const pause = () => delay(heartbeatMs, undefined, { signal }).catch(() => undefined);
  let status: LeaseStatus = 'held';
  while (status !== 'lost' && !signal.aborted) {
    // A run that is over is answered for at once, and after_run hooks may take longer than a lease.
    if (status === 'ended') await pause();
    // The work ended meanwhile, and with it the job: another beat would call that a loss.
    if (signal.aborted) return;
    try {
      status = await server.heartbeat(assignment, heartbeatMs, signal);
    } catch (error) {
      // The lease outlives several missed beats; when it does run out, the next one says so.
      log.error({ err: error }, 'a heartbeat failed');
      await pause();
    }
    if (status !== 'held') end.over.abort();
  }
  if (status !== 'lost') return;
  log.warn('the lease of a run was lost');
  end.lost.abort();
}
