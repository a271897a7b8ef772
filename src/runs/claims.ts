import type { Clock } from '../clock.ts';
import { noHooks, type Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { verdictOf } from './after-cut-off.ts';
import type { JobQueue } from './job-queue.ts';
import { type Half, type PhaseJob, phaseQueue } from './phase-jobs.ts';
import { isTerminal, type Outcome, type Run } from './run.ts';
import type { Frozen, Phase, RunStore } from './run-store.ts';
import type { Transitions } from './transition.ts';
import { trustOfRun, visibleVariables } from './trust.ts';

/** A run whose repository is out of reach could only fail: so often it is looked whether it is there again. */
const lookAgainMs = 30_000;

const notHeld =
  'It comes from a fork, or from a bot that is not trusted, and this server runs the tools without a sandbox: nothing was executed.\n' +
  'Read the change and push it to a branch of the repository, or have the operator turn the sandbox on.';

/** So far back is looked for a run that tells in which condition the state was left. */
const pastRuns = 30;
const changing: ReadonlySet<Phase> = new Set(['applying', 'destroying', 'performing']);

/**
 * Gives a worker the next job and what it needs for it, in the transaction that changes the run's state with the
 * claim. Null when there is none of that priority or more.
 */
export function createClaims(parts: {
  runs: RunStore;
  stacks: StackStore;
  queue: JobQueue;
  transitions: () => Transitions;
  transactions: Transactions;
  clock: Clock;
  /** False with SANDBOX=none: nothing holds what is executed. */
  isSandboxed: boolean;
}) {
  const { runs, stacks, queue, transitions, transactions } = parts;

  /**
   * What must not be executed, or cannot be, is failed here, without a hook: a run whose settings cannot be read would
   * stay at the head of the queue for ever.
   */
  async function assign(tx: Tx, run: Run, stack: Stack, wanted: Half) {
    const half: Half = isTerminal(run.state) ? 'finish' : wanted;
    if (!parts.isSandboxed && trustOfRun(run) === 'untrusted') {
      return giveUp(tx, run, stack, { outcome: 'sandbox_unavailable', note: notHeld });
    }
    try {
      const frozen = await freeze(tx, run, stack, half);
      return { run, half, frozen, ...((await isAfterCutOff(tx, run, half)) ? { isAfterCutOff: true } : {}) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const note = `${error.message} Nothing was changed. Set the stack's secret variables again, then retry the run.`;
      return giveUp(tx, run, stack, { outcome: 'internal_error', note });
    }
  }

  /** Its workspace goes all the same. */
  async function giveUp(tx: Tx, run: Run, stack: Stack, why: { outcome: Outcome; note: string }) {
    const frozen = { settings: { ...stack.settings, hooks: noHooks }, variables: [], exports: {} };
    const over = isTerminal(run.state) ? run : await fail(tx, run, why);
    return { run: over, half: 'finish' as const, frozen };
  }

  /** Previews are not told: an apply that is under way is no accident. */
  async function isAfterCutOff(tx: Tx, run: Run, half: Half): Promise<boolean> {
    if (half !== 'plan' || (run.type !== 'TRACKED' && run.type !== 'DESTROY')) return false;
    for (const past of await runs.newestBlocking(run.stackKey, pastRuns, tx)) {
      const [events, commands] = [await runs.events(past.id, tx), await runs.commands(past.id, tx)];
      const verdict = verdictOf({
        run: past,
        passed: events.map(({ state }) => state),
        exitCodes: commands.filter(({ phase }) => changing.has(phase)).map(({ exitCode }) => exitCode),
      });
      if (verdict !== 'nothing') return verdict === 'cut-off';
    }
    return false;
  }

  async function fail(tx: Tx, run: Run, why: { outcome: Outcome; note: string }): Promise<Run> {
    const details = { actor: 'server', note: why.note, change: { outcome: why.outcome } };
    const moved = await transitions().move(tx, run, { kind: 'fail' }, details);
    if (moved.kind !== 'moved') throw new Error(`fail was refused in ${run.state}`);
    return moved.run;
  }

  async function freeze(tx: Tx, run: Run, stack: Stack, half: Half): Promise<Frozen> {
    const frozen = await runs.frozen(run.id, tx);
    if (!frozen) {
      const all = await stacks.environment(stack.key, tx);
      // Of others the worker holds all: it hides in the output what the program may have got elsewhere.
      const variables = trustOfRun(run) === 'untrusted' ? visibleVariables(all, 'untrusted') : all;
      return { settings: stack.settings, variables, exports: {} };
    }
    // Hooks of a lost attempt may have exported paths into its workspace, which is gone.
    return half === 'plan' ? { ...frozen, exports: {} } : frozen;
  }

  /** A run that was handed back after a lost worker is in PREPARING already. */
  async function claimRun(tx: Tx, run: Run): Promise<Run> {
    if (run.state !== 'READY' && run.state !== 'CONFIRMED') return run;
    const moved = await transitions().move(
      tx,
      run,
      { kind: 'claim' },
      { actor: 'worker', note: null, change: { hadWorker: true } },
    );
    if (moved.kind !== 'moved') throw new Error(`run ${run.id} could not be claimed in ${run.state}`);
    return moved.run;
  }

  return async function claimNow(minPriority: number) {
    return transactions.write(async (tx) => {
      for (;;) {
        const job = await queue.claim(tx, phaseQueue, minPriority);
        if (!job) return null;
        const { runId, half: wanted } = job.data as PhaseJob;
        const found = await runs.find(runId, tx);
        const stack = found && (await stacks.findByKey(found.stackKey, tx));
        if (!found || !stack) {
          // The stack was deleted; its workspace goes at the next start.
          await queue.finish(tx, job);
          continue;
        }
        if (stack.away && found.state === 'READY') {
          await queue.retryLater(tx, job, parts.clock.nowMs() + lookAgainMs);
          continue;
        }
        const assigned = await assign(tx, await claimRun(tx, found), stack, wanted);
        return { lease: { id: job.id, attempt: job.attempt }, stack, ...assigned };
      }
    });
  };
}
