import type { Logger } from '../logger.ts';
import { rightsOf, trustOfRun } from '../runs/trust.ts';
import { begin, type Circumstances } from './begin.ts';
import { runHooks } from './hook-runner.ts';
import { locateProject, openPhase } from './phases.ts';
import type { WorkerOptions } from './run-context.ts';
import type { Assignment } from './server-api.ts';
import type { Vendor } from './vendor.ts';

/** after_run hooks, whatever the outcome, then the workspace goes, and with it the job. */
export async function finish(
  options: WorkerOptions,
  assignment: Assignment,
  vendor: Vendor,
  circumstances: Circumstances,
  log: Logger,
): Promise<void> {
  const { signals } = circumstances;
  try {
    await runAfterHooks(options, assignment, vendor, circumstances);
  } catch (error) {
    // Whatever went wrong, it must not be tried for ever: the run is over.
    log.error({ err: error }, 'after_run hooks failed for a reason of ours');
  }
  // Whoever has the lease now may be using the workspace.
  if (signals.lost.aborted) return;
  try {
    await options.workspaces.remove(assignment.run.id);
  } catch (error) {
    log.error({ err: error }, 'a workspace could not be removed, the next start tries again');
  }
  await options.server.finished(assignment);
  if (rightsOf(trustOfRun(assignment.run)).sharesCache)
    await options.caches.tend(assignment.stack.repository.id);
  log.debug('the run is cleared up');
}

async function runAfterHooks(
  options: WorkerOptions,
  assignment: Assignment,
  vendor: Vendor,
  circumstances: Circumstances,
): Promise<void> {
  const { signals, reached } = circumstances;
  const { afterRun } = assignment.frozen.settings.hooks;
  const workspace = afterRun.length > 0 ? await options.workspaces.reopen(assignment, vendor) : null;
  if (!workspace) return;
  // A clean stop that comes meanwhile gives them as long as a plan; after an apply it waited for, they still run.
  const only = { over: signals.lost, lost: signals.lost, draining: signals.draining };
  await using execution = begin(options, assignment, vendor, workspace, { ...circumstances, signals: only });
  const { context } = execution;
  const phase = openPhase(context, reached.phase, 'plan');
  if (!(await options.workspaces.beginAfterRun(workspace))) {
    phase.log.line('[after_run hooks were cut off when the server ended; they are not run a second time]');
    await phase.log.flush();
    return;
  }
  // A project that is not there, or not any more, is no reason not to clear up.
  const located = await locateProject(context);
  if (located.kind === 'failed') phase.log.line('[after_run hooks run in the root of the repository]');
  const result = await runHooks(context, phase, 'afterRun');
  // The run is over: a failing after_run hook is for the log, not for the outcome.
  if (result.kind === 'failed') phase.log.line(`[${result.note.split('\n')[0]}]`);
  await phase.log.flush();
}
