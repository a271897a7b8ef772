import { createHash } from 'node:crypto';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { JobQueue, Lease } from './job-queue.ts';
import type { LogStore } from './log-store.ts';
import { type Half, type PhaseJob, phaseQueue } from './phase-jobs.ts';
import { type Delta, isTerminal, type Outcome, type Run, type RunCommand } from './run.ts';
import type { Reactor } from './run-event.ts';
import type { Phase, RunCommandRecord, RunStore } from './run-store.ts';
import type { Source } from './source.ts';
import type { MoveDetails, Transitions } from './transition.ts';

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

export function createWorkerService(parts: {
  runs: RunStore;
  stacks: StackStore;
  queue: JobQueue;
  transitions: () => Transitions;
  transactions: Transactions;
  source: Source;
  logs: LogStore;
}) {
  const { runs, stacks, queue, transactions } = parts;
  /** Heartbeats that wait, by run: rung when the run's state changes under a worker. */
  const watchers = new Map<string, () => void>();

  async function claimNow() {
    return transactions.write(async (tx) => {
      const job = await queue.claim(tx, phaseQueue);
      if (!job) return null;
      const { runId, half: wanted } = job.data as PhaseJob;
      const found = await runs.find(runId, tx);
      const stack = found && (await stacks.findByKey(found.stackKey, tx));
      if (!found || !stack) {
        // The stack was deleted; its workspace goes at the next start.
        await queue.finish(tx, job);
        return null;
      }
      const claimed = await claimRun(tx, found);
      const half: Half = isTerminal(claimed.state) ? 'finish' : wanted;
      const frozen = (await runs.frozen(runId, tx)) ?? {
        settings: stack.settings,
        variables: await stacks.environment(stack.key),
        exports: {},
      };
      return { lease: { id: job.id, attempt: job.attempt }, half, run: claimed, stack, frozen };
    });
  }

  /** A run that was handed back after a lost worker is in PREPARING already. */
  async function claimRun(tx: Tx, run: Run): Promise<Run> {
    if (run.state !== 'READY' && run.state !== 'CONFIRMED') return run;
    const moved = await move(
      tx,
      run,
      { kind: 'claim' },
      { actor: 'worker', note: null, change: { hadWorker: true } },
    );
    if (moved.kind !== 'moved') throw new Error(`run ${run.id} could not be claimed in ${run.state}`);
    return moved.run;
  }

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

  const report = (held: Held, command: RunCommand, details: Partial<MoveDetails> = {}) =>
    fenced(held, async (tx, run) => {
      const moved = await move(tx, run, command, { actor: 'worker', note: null, ...details });
      if (moved.kind !== 'moved') throw new Error(`${command.kind} was refused in ${run.state}`);
    });

  async function planned(held: Held, plan: PlanInput) {
    const planDigest = plan.file ? createHash('sha256').update(plan.file).digest('hex') : undefined;
    return transactions.write(async (tx) => {
      if (!(await queue.holds(tx, held.lease))) return { next: 'lost' } as const;
      const run = await runs.find(held.run.id, tx);
      const stack = run && (await stacks.findByKey(run.stackKey, tx));
      if (!run || !stack) return { next: 'lost' } as const;
      if (isTerminal(run.state)) return { next: 'end' } as const;
      await runs.savePlan(tx, run.id, plan);
      const moved = await move(
        tx,
        run,
        {
          kind: 'planned',
          hasChanges: plan.hasChanges,
          hasWarnings: false,
          hasApprovalPolicies: false,
          autodeploy: plan.autodeploy,
          stackLocked: stack.lock !== null && stack.lock.holder !== (await runs.startedBy(tx, run.id)),
        },
        {
          actor: 'worker',
          note: plan.hasChanges ? null : 'nothing to change',
          change: { delta: plan.delta, ...(planDigest === undefined ? {} : { planDigest }) },
        },
      );
      if (moved.kind !== 'moved') throw new Error(`planned was refused in ${run.state}`);
      if (moved.run.state === 'APPLYING') return { next: 'apply' } as const;
      if (isTerminal(moved.run.state)) return { next: 'end' } as const;
      // The run waits for a person and holds no worker: the confirmation makes the next job.
      await queue.finish(tx, held.lease);
      return { next: 'wait' } as const;
    });
  }

  async function lookAt(held: Held): Promise<Status> {
    if (!(await queue.renew(held.lease))) return 'lost';
    const run = await runs.find(held.run.id);
    return run && !isTerminal(run.state) ? 'held' : 'ended';
  }

  return {
    /** Wakes the heartbeat of a worker whose run ended under it. */
    reactor: ((tx, { run }) => {
      if (isTerminal(run.state)) tx.afterCommit(() => watchers.get(run.id)?.());
      return Promise.resolve();
    }) satisfies Reactor,

    async claim(maxWaitMs: number, signal: AbortSignal) {
      const claimed = await claimNow();
      if (claimed || signal.aborted) return claimed;
      await queue.waitForWork(phaseQueue, maxWaitMs, signal);
      return signal.aborted ? null : claimNow();
    },

    async heartbeat(held: Held, maxWaitMs: number, signal: AbortSignal): Promise<Status> {
      const now = await lookAt(held);
      if (now !== 'held' || signal.aborted) return now;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          watchers.delete(held.run.id);
          resolve();
        };
        const timer = setTimeout(done, maxWaitMs);
        signal.addEventListener('abort', done, { once: true });
        watchers.set(held.run.id, done);
      });
      return signal.aborted ? 'held' : lookAt(held);
    },

    fetchSource: (
      held: Held & { readonly stack: { readonly repository: Parameters<Source['fetch']>[0] } },
      target: Parameters<Source['fetch']>[2],
      signal: AbortSignal,
    ) => parts.source.fetch(held.stack.repository, held.run.commit.hash, target, signal),

    saveFrozen: (held: Held, frozen: unknown) =>
      fenced(held, (tx, run) => runs.saveFrozen(tx, run.id, frozen)),
    prepared: (held: Held) => report(held, { kind: 'prepared' }),
    initialized: (held: Held) => report(held, { kind: 'initialized' }),
    planned,
    applied: (held: Held) => report(held, { kind: 'finish' }),
    failed: (held: Held, failure: { outcome: Outcome; note: string }) =>
      report(held, { kind: 'fail' }, { note: failure.note, change: { outcome: failure.outcome } }),

    /** A clean stop: the first half starts again elsewhere, and that is not counted as a loss. */
    handBack: (held: Held) =>
      fenced(held, async (tx, run) => {
        const moved = await move(
          tx,
          run,
          { kind: 'lose-worker' },
          { actor: 'server', note: 'the server stopped; started again' },
        );
        if (moved.kind !== 'moved') throw new Error(`hand-back was refused in ${run.state}`);
        await queue.retryLater(tx, held.lease, 0);
      }),

    async planFile(held: Held): Promise<Uint8Array | null> {
      const file = await runs.planFile(held.run.id);
      if (!file) return null;
      const digest = createHash('sha256').update(file).digest('hex');
      return digest === held.run.planDigest ? file : null;
    },

    log: (held: Held, phase: Phase, bytes: Uint8Array) => parts.logs.append(held.run.id, phase, bytes),
    command: (held: Held, record: RunCommandRecord) =>
      transactions.write((tx) => runs.addCommand(tx, held.run.id, record)),

    async finished(held: Held): Promise<void> {
      await transactions.write(async (tx) => {
        if (!(await queue.finish(tx, held.lease))) return;
        await runs.forgetSecrets(tx, held.run.id);
      });
    },
  };
}

interface PlanInput {
  readonly hasChanges: boolean;
  readonly delta: Delta;
  readonly steps: readonly unknown[];
  readonly file: Uint8Array | null;
  /** As frozen, not as the stack says now. */
  readonly autodeploy: boolean;
}
