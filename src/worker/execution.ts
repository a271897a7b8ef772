import type { Logger } from '../logger.ts';
import type { Phase } from '../runs/run-store.ts';
import { vendorName } from '../stacks/stack.ts';
import { UserError } from '../user-error.ts';
import { begin, type Circumstances, type Signals } from './begin.ts';
import { bindToPlan } from './binding.ts';
import { finish } from './finish.ts';
import { createKnownSecrets } from './known-secrets.ts';
import { isStorageFull, withPatience } from './patience.ts';
import { apply, checkTool, initialize, locateProject, openPhase, perform, plan, prepare } from './phases.ts';
import { withoutSecrets } from './redaction.ts';
import { failed, over, type StepFailure, type WorkerOptions } from './run-context.ts';
import type { Assignment } from './server-api.ts';
import type { Vendor } from './vendor.ts';

/** How a half ended, as far as the worker knows. `waiting`: a person has the word, the workspace stays. */
type HalfResult = { readonly kind: 'done' | 'reported' | 'waiting' | 'over' } | StepFailure;

/** Walks one assignment through its half, reports how it ended, and clears up when the run is over. */
export async function carryOut(
  given: WorkerOptions,
  assignment: Assignment,
  signals: Signals,
  log: Logger,
): Promise<void> {
  const secrets = createKnownSecrets(assignment.frozen);
  const server = withPatience(withoutSecrets(given.server, secrets), signals.lost);
  const options = { ...given, server };
  const vendor = options.vendors.find(({ name }) => name === vendorName(assignment.frozen.settings.vendor));
  if (!vendor) {
    const name = vendorName(assignment.frozen.settings.vendor);
    await options.server.failed(
      assignment,
      failed(
        'tool_missing',
        `This server does not know the tool ${name}.`,
        'Change the vendor in the settings of the stack, or install a Slipway that knows it.',
      ),
    );
    await options.workspaces.remove(assignment.run.id);
    await options.server.finished(assignment);
    return;
  }
  // What ended without a worker waited for a person, after its plan.
  const reached: { phase: Phase } = { phase: assignment.half === 'finish' ? 'planning' : 'preparing' };
  const circumstances = { signals, secrets, exports: { ...assignment.frozen.exports }, reached };
  if (assignment.half !== 'finish') {
    const result = await runHalf(options, assignment, vendor, circumstances, log);
    // Whatever it downloaded may be why: the next run starts over.
    if (result.kind === 'failed' && reached.phase === 'initializing')
      await options.caches.distrust(assignment.run.id);
    const ended = await report(options, assignment, result, signals);
    if (!ended) return;
  }
  await finish(options, assignment, vendor, circumstances, log);
}

async function runHalf(
  options: WorkerOptions,
  assignment: Assignment,
  vendor: Vendor,
  circumstances: Circumstances,
  log: Logger,
): Promise<HalfResult> {
  try {
    return assignment.half === 'plan'
      ? await firstHalf(options, assignment, vendor, circumstances)
      : await secondHalf(options, assignment, vendor, circumstances);
  } catch (error) {
    if (circumstances.signals.over.aborted) return over;
    if (isStorageFull(error)) {
      log.error({ err: error }, 'a run failed because the disk is full');
      return unclear(
        failed(
          'disk_limit',
          'The disk of the server is full.',
          'An operator must make room; then retry the run.',
        ),
      );
    }
    if (error instanceof UserError) {
      return unclear(failed('project_unusable', error.message, error.hint));
    }
    log.error({ err: error }, 'a run failed for a reason of ours');
    return unclear(
      failed(
        'internal_error',
        'Internal error: Slipway itself failed.',
        `The log of the server says more; it names run ${assignment.run.id}.`,
      ),
    );
  }
}

const unclear = (failure: StepFailure): StepFailure => ({ ...failure, isUnclear: true });

async function firstHalf(
  options: WorkerOptions,
  assignment: Assignment,
  vendor: Vendor,
  circumstances: Circumstances,
): Promise<HalfResult> {
  const { server } = options;
  const workspace = await options.workspaces.create(assignment, vendor, circumstances.signals.over);
  await using execution = begin(options, assignment, vendor, workspace, circumstances);
  const { context, commit } = execution;

  // It takes as long as the source does, and is not needed before.
  void context.network.open(context.signal).catch(() => undefined);
  const prepared = await prepare(context, options.workspaces);
  if (prepared.kind !== 'ok') return prepared;
  if ((await server.saveFrozen(assignment, assignment.frozen)) !== 'held') return over;
  if ((await server.prepared(assignment)) !== 'held') return over;

  const initialized = await initialize(context);
  if (initialized.kind !== 'ok') return initialized;
  const isTask = assignment.run.type === 'TASK';
  // Before the report: once the server says PERFORMING, a clean stop must wait.
  if (isTask && !commit()) return over;
  if ((await server.initialized(assignment)) !== 'held') return over;
  if (isTask) {
    const performed = await perform(context);
    return performed.kind === 'ok' ? { kind: 'done' } : performed;
  }

  const planned = await plan(context, options.workspaces, commit);
  if (planned.kind !== 'planned') return planned;
  switch (planned.answer.next) {
    case 'lost':
    case 'undecided':
      return over;
    case 'wait':
      return { kind: 'waiting' };
    case 'end':
      return { kind: 'reported' };
    case 'apply': {
      const bound = await bindToPlan(context, openPhase(context, 'applying', 'apply'));
      if (bound.kind !== 'bound') return bound;
      const applied = await apply(context, bound, true);
      return applied.kind === 'ok' ? { kind: 'done' } : applied;
    }
  }
}

async function secondHalf(
  options: WorkerOptions,
  assignment: Assignment,
  vendor: Vendor,
  circumstances: Circumstances,
): Promise<HalfResult> {
  const workspace = await options.workspaces.reopen(assignment, vendor);
  if (!workspace) {
    return failed(
      'project_unusable',
      'The workspace of the confirmed plan is gone; nothing was applied.',
      'Retry the run and confirm the new plan.',
    );
  }
  await using execution = begin(options, assignment, vendor, workspace, circumstances);
  const { context, commit } = execution;
  if (!commit()) return over;
  const present = await checkTool(vendor);
  if (present.kind !== 'ok') return present;
  const located = await locateProject(context);
  if (located.kind !== 'ok') return located;
  const bound = await bindToPlan(context, openPhase(context, 'preparing', 'plan'));
  if (bound.kind !== 'bound') return bound;
  if ((await options.server.prepared(assignment)) !== 'held') return over;
  const applied = await apply(context, bound, false);
  return applied.kind === 'ok' ? { kind: 'done' } : applied;
}

/** True when the run is over and the workspace is ours to clear. */
async function report(
  options: WorkerOptions,
  assignment: Assignment,
  result: HalfResult,
  signals: Signals,
): Promise<boolean> {
  const { server } = options;
  switch (result.kind) {
    case 'waiting':
      return false;
    case 'reported':
      return true;
    case 'done':
      return (await server.applied(assignment)) !== 'lost';
    case 'failed':
      return (await server.failed(assignment, result)) !== 'lost';
    case 'over': {
      const gaveUp = signals.draining.aborted && !signals.over.aborted;
      // `held` means that it was handed back: whoever takes it next starts in a clean workspace.
      const status = gaveUp
        ? await server.handBack(assignment)
        : await server.heartbeat(assignment, 0, AbortSignal.abort());
      return status === 'ended';
    }
  }
}
