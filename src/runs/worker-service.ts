import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { Transactions, Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { Guards } from './approvals/guards.ts';
import { createClaims } from './claims.ts';
import type { JobQueue, Lease } from './job-queue.ts';
import type { LogStore } from './log-store.ts';
import { finishPriority, phaseQueue } from './phase-jobs.ts';
import type { PlanJudge } from './plan-judge.ts';
import { createPlanReports, sha256 } from './plan-report.ts';
import { changesTheWorld, isTerminal, type Outcome, type Run, type RunCommand } from './run.ts';
import type { Reactor } from './run-event.ts';
import { type Frozen, type Phase, phases, type RunCommandRecord, type RunStore } from './run-store.ts';
import type { Source } from './source.ts';
import type { MoveDetails, Transitions } from './transition.ts';
import { createWatchers } from './watchers.ts';

/**
 * What the server answers to workers: claims, reports and heartbeats, each fenced by the lease and each
 * one transaction. Its shape is the worker's port (worker/server-api.ts); it does not import it, because
 * the domain does not know who executes.
 */
type Status = 'held' | 'ended' | 'lost';

interface Held {
  readonly lease: Lease;
  readonly run: Run;
}

interface FailureOfRun {
  readonly outcome: Outcome;
  readonly note: string;
  readonly trouble?: ToolTrouble;
  readonly isUnclear?: true;
}

export function createWorkerService(parts: {
  runs: RunStore;
  stacks: StackStore;
  queue: JobQueue;
  transitions: () => Transitions;
  transactions: Transactions;
  source: Source;
  logs: LogStore;
  clock: Clock;
  judge: PlanJudge;
  guards: Guards;
  logger: Logger;
  isSandboxed: boolean;
}) {
  const { runs, queue, transactions } = parts;
  const watchers = createWatchers();
  const planned = createPlanReports({ ...parts, watchers });
  const claimNow = createClaims(parts);

  const move = (tx: Tx, run: Run, command: RunCommand, details: MoveDetails) =>
    parts.transitions().move(tx, run, command, details);

  /** Runs `work` on the run as it is now, if the lease holds and the run is not over. */
  async function fenced(held: Held, work: (tx: Tx, run: Run) => Promise<void>): Promise<Status> {
    return transactions.write(async (tx) => {
      if (!(await queue.holds(tx, held.lease))) return 'lost';
      const run = await runs.find(held.run.id, tx);
      if (!run) return 'lost';
      if (isTerminal(run.state)) return 'ended';
      await work(tx, run);
      return 'held';
    });
  }

  const isHolder = (held: Held) => transactions.write((tx) => queue.holds(tx, held.lease));

  const report = (held: Held, command: RunCommand, details: Partial<MoveDetails> = {}) =>
    fenced(held, async (tx, run) => {
      const moved = await move(tx, run, command, { actor: 'worker', note: null, ...details });
      if (moved.kind !== 'moved') throw new Error(`${command.kind} was refused in ${run.state}`);
    });

  async function lookAt(held: Held): Promise<Status> {
    if (!(await queue.renew(held.lease))) return 'lost';
    const run = await runs.find(held.run.id);
    return run && !isTerminal(run.state) ? 'held' : 'ended';
  }

  return {
    /** Wakes the heartbeat of a worker whose run ended under it, or was taken away to start again. */
    reactor: ((tx, { run }) => {
      if (isTerminal(run.state) || run.state === 'PREPARING') tx.afterCommit(() => watchers.ring(run.id));
      return Promise.resolve();
    }) satisfies Reactor,

    async claim(what: 'any' | 'finish', maxWaitMs: number, signal: AbortSignal) {
      const minPriority = what === 'any' ? 0 : finishPriority;
      const claimed = await claimNow(minPriority);
      if (claimed || signal.aborted) return claimed;
      await queue.waitForWork(phaseQueue, maxWaitMs, signal);
      return signal.aborted ? null : claimNow(minPriority);
    },

    async heartbeat(held: Held, maxWaitMs: number, signal: AbortSignal): Promise<Status> {
      using listener = watchers.listen(held.run.id);
      const now = await lookAt(held);
      if (now !== 'held' || signal.aborted) return now;
      await listener.rung(maxWaitMs, signal);
      return signal.aborted ? 'held' : lookAt(held);
    },

    fetchSource: (
      held: Held & { readonly stack: { readonly repository: Parameters<Source['fetch']>[0] } },
      target: Parameters<Source['fetch']>[2],
      signal: AbortSignal,
    ) => parts.source.fetch(held.stack.repository, held.run.commit.hash, target, signal),

    saveFrozen: (held: Held, frozen: Frozen) =>
      fenced(held, (tx, run) => runs.saveFrozen(tx, run.id, frozen)),
    prepared: (held: Held) => report(held, { kind: 'prepared' }),
    initialized: (held: Held) => report(held, { kind: 'initialized' }),
    planned,
    applied: (held: Held) => report(held, { kind: 'finish' }),
    failed: (held: Held, failure: FailureOfRun) =>
      fenced(held, async (tx, run) => {
        const { outcome, trouble } = failure;
        // Nobody knows what was done when we broke ourselves or the sandbox was killed: the same as a lost worker.
        const isUnclear = failure.isUnclear || outcome === 'internal_error' || outcome === 'worker_lost';
        const isLoss = isUnclear && changesTheWorld.has(run.state);
        const note = isLoss ? `${failure.note}\n${checkRealState}` : failure.note;
        const change = { outcome, ...(trouble ? { trouble } : {}) };
        const details = { actor: 'worker', note, change };
        const moved = await move(tx, run, { kind: isLoss ? 'lose-worker' : 'fail' }, details);
        if (moved.kind !== 'moved') throw new Error(`fail was refused in ${run.state}`);
      }),

    /** A clean stop: the first half starts again elsewhere. */
    handBack: (held: Held) =>
      fenced(held, async (tx, run) => {
        const by = { actor: 'server', note: 'the server stopped; started again' };
        const moved = await move(tx, run, { kind: 'hand-back' }, by);
        if (moved.kind !== 'moved') throw new Error(`hand-back was refused in ${run.state}`);
        await queue.retryLater(tx, held.lease, 0);
      }),

    async planFile(held: Held): Promise<Uint8Array | null> {
      const file = await ifUnaltered(() => runs.planFile(held.run.id));
      if (!file) return null;
      // As it is now: with autodeploy the plan is younger than the assignment.
      const run = await runs.find(held.run.id);
      return run?.planDigest === sha256(file) ? file : null;
    },

    async planSteps(held: Held): Promise<readonly unknown[] | null> {
      const plan = await ifUnaltered(() => runs.plan(held.run.id));
      return plan?.steps ?? null;
    },

    async logSize(held: Held, phase: Phase): Promise<number | null> {
      if (!(await isHolder(held))) return null;
      return (await parts.logs.read(held.run.id, phase, 0, 0)).size;
    },
    async log(held: Held, phase: Phase, offset: number, bytes: Uint8Array): Promise<number | null> {
      if (!(await isHolder(held))) return null;
      const appended = await parts.logs.append(held.run.id, phase, offset, bytes);
      if (appended.kind === 'stored') return appended.size;
      throw new Error(`a log of run ${held.run.id} was not continued at ${offset}: ${appended.reason}`);
    },
    command: (held: Held, record: RunCommandRecord) =>
      transactions.write(async (tx) => {
        const holds = await queue.holds(tx, held.lease);
        if (holds && (await runs.find(held.run.id, tx))) await runs.addCommand(tx, held.run.id, record);
      }),

    async finished(held: Held): Promise<void> {
      const isOver = await transactions.write(async (tx) => {
        if (!(await queue.finish(tx, held.lease))) return false;
        await runs.forgetSecrets(tx, held.run.id);
        return true;
      });
      if (!isOver) return;
      for (const phase of phases) {
        // The run is cleared up whatever becomes of this: a log that is not sealed is a log all the same.
        await parts.logs.seal(held.run.id, phase).catch((error: unknown) => {
          parts.logger.warn({ err: error, run: held.run.id, phase }, 'a log could not be sealed');
        });
      }
    },
  };
}

const checkRealState = 'What was done until then stays done: check the real state, then unlock the stack.';

/** Plans are sealed: one that was altered where it is stored cannot be opened, and is as good as none. */
async function ifUnaltered<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UserError && error.code === 'secret-key-wrong') return null;
    throw error;
  }
}
