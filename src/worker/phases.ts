import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Phase } from '../runs/run-store.ts';
import type { RunHalf } from '../runs/trust.ts';
import { UserError } from '../user-error.ts';
import { type Bound, bindsByFile, confirmedSteps, withPlanFile } from './binding.ts';
import { createBudget } from './budget.ts';
import { insidePlan, runVendorCommand } from './command-runner.ts';
import { readCustomMetadata } from './custom-metadata.ts';
import { runHooks, runTask } from './hook-runner.ts';
import { createPhaseLog, type PhaseLogOptions } from './logs.ts';
import { runPlanCommands } from './plan-commands.ts';
import { findProjectRoot } from './project-root.ts';
import {
  failed,
  ok,
  over,
  type PhaseContext,
  type RunContext,
  type StepFailure,
  type StepResult,
  vendorContext,
  vendorFailure,
} from './run-context.ts';
import type { PlanAnswer } from './server-api.ts';
import { checkState } from './state-check.ts';
import type { InitializeStep, Vendor } from './vendor.ts';
import type { Workspaces } from './workspace.ts';

/**
 * The phases of a run in the order of docs/runs.md: which hooks and commands, and what their results mean
 * for the run. It starts no process itself (command-runner.ts) and changes no state (the server does).
 */
export function openPhase(
  context: RunContext,
  phase: Phase,
  half: RunHalf,
  // What changes the world goes on, whatever becomes of its log.
  logOptions: PhaseLogOptions = { mayHaveGaps: half === 'apply' },
): PhaseContext {
  const { server, assignment, limits } = context;
  context.reached.phase = phase;
  return {
    ...{ phase, half },
    budget: createBudget(half === 'plan' ? limits.plan : limits.apply),
    log: createPhaseLog(server, assignment, phase, context.secrets, logOptions),
  };
}

/** A phase of the first half, which may be a second try: what the first one wrote stays, apart from ours. */
function openPlanPhase(context: RunContext, phase: Phase): PhaseContext {
  const { attempt } = context.assignment.lease;
  return openPhase(context, phase, 'plan', {
    separator: `[---------- started again, attempt ${attempt} ----------]`,
  });
}

export async function prepare(context: RunContext, workspaces: Workspaces): Promise<StepResult> {
  const { server, assignment, vendor, workspace } = context;
  const phase = openPlanPhase(context, 'preparing');
  const { run, stack } = assignment;
  const present = await checkTool(vendor);
  if (present.kind !== 'ok') {
    await workspaces.handOver(workspace);
    return present;
  }
  for (const note of workspace.notes) phase.log.line(note);
  phase.log.line(`[fetching ${run.commit.hash} of ${stack.repository.fullName}]`);
  try {
    await server.fetchSource(
      assignment,
      { gitDir: workspace.host.git, workTree: workspace.host.tree },
      context.signal,
    );
  } catch (error) {
    if (context.signal.aborted) return over;
    if (!(error instanceof UserError)) throw error;
    return failed('source_unavailable', error.message, error.hint);
  } finally {
    // Of a failed fetch too: after_run hooks are still to come.
    await workspaces.handOver(workspace);
  }
  const located = await locateProject(context);
  if (located.kind !== 'ok') return located;
  phase.log.line(`[${vendor.name} ${vendor.tool?.version}; sandbox: ${context.sandbox.describe()}]`);
  await phase.log.flush();
  return ok;
}

/** It may have been uninstalled since the server started. */
export async function checkTool({ name, tool, toolProblem }: Vendor): Promise<StepResult> {
  const missing = (problem: string) =>
    failed('tool_missing', problem, '`slipway doctor` on the server shows what it finds.');
  if (!tool) return missing(toolProblem ?? `${name} is not installed on this server.`);
  try {
    await access(tool.path, constants.X_OK);
    return ok;
  } catch {
    return missing(`${tool.path} is not there any more.`);
  }
}

export async function locateProject(context: RunContext): Promise<StepResult> {
  const { assignment, vendor, workspace } = context;
  const root = await findProjectRoot(workspace, assignment.frozen.settings.projectRoot, vendor.projectFile);
  if (root.kind === 'unusable') return failed('project_unusable', root.reason, root.hint);
  context.projectRoot = root.inside;
  return ok;
}

export async function initialize(context: RunContext): Promise<StepResult> {
  const phase = openPlanPhase(context, 'initializing');
  const { vendor } = context;
  const before = () => runHooks(context, phase, 'beforeInit');
  const commands = () =>
    inOrder(vendor.initialize(vendorContext(context, '/output')), (step) =>
      initializeStep(context, phase, step),
    );
  const first = vendor.beforeInitHooks === 'before-commands' ? before : commands;
  const second = vendor.beforeInitHooks === 'before-commands' ? commands : before;
  return inOrder([first, second, () => runHooks(context, phase, 'afterInit')], (step) => step());
}

async function initializeStep(
  context: RunContext,
  phase: PhaseContext,
  step: InitializeStep,
): Promise<StepResult> {
  const result = await runVendorCommand(
    context,
    phase,
    () => step.command,
    (outputs) => Promise.resolve(outputs),
  );
  if (result.kind !== 'ran') return result;
  const { exitCode, stderrTail } = result.value;
  if (exitCode === 0) return ok;
  if (step.fallback?.when({ exitCode, stderr: stderrTail })) {
    const { command, remember } = step.fallback;
    const again = await initializeStep(context, phase, { command });
    if (again.kind === 'ok') remember();
    return again;
  }
  return vendorFailure(context.vendor.explain(result.value));
}

export type Planned =
  | { readonly kind: 'planned'; readonly answer: PlanAnswer }
  | StepFailure
  | { readonly kind: 'over' };

/** `commit` is called before the server may say APPLYING: from then on a clean stop waits. False: too late. */
export async function plan(
  context: RunContext,
  workspaces: Pick<Workspaces, 'tidy'>,
  commit: () => boolean,
): Promise<Planned> {
  const { assignment, server, vendor } = context;
  const { settings } = assignment.frozen;
  const needsPlan = bindsByFile(context);
  const phase = openPlanPhase(context, 'planning');
  const kind = assignment.run.type === 'DESTROY' ? 'destroy' : 'apply';
  const before = await runHooks(context, phase, 'beforePlan');
  if (before.kind !== 'ok') return before;
  const sound = await checkState(context, phase);
  if (sound.kind !== 'ok') return sound;

  let file: Uint8Array | null = null;
  const ran = await runPlanCommands(context, phase, kind, async (outputs) => {
    const result = await vendor.readPlan(outputs, kind);
    if (result.kind === 'planned' && result.planFile !== null && needsPlan) {
      const bytes = await outputs[0].read(result.planFile, maxPlanBytes);
      file = bytes && Buffer.concat(await Array.fromAsync(bytes));
    }
    return result;
  });
  if (ran.kind !== 'ran') return ran;
  const result = ran.value;
  if (result.kind !== 'planned') return vendorFailure(result);
  if (needsPlan && result.hasChanges && file === null) {
    return failed(
      'plan_unreadable',
      'The tool saved no readable plan, so nothing could be bound to it.',
      'Retry the run. A program or hook must leave the output directory of the tool alone.',
    );
  }
  const after = await runHooks(context, phase, 'afterPlan');
  if (after.kind !== 'ok') return after;

  const metadata = await readCustomMetadata(context);
  if (metadata.kind !== 'read') return metadata;

  // What the hooks exported and what must be hidden must survive a wait for a person.
  const { exports, secrets } = context;
  const toolSecrets = secrets.ofTool();
  const frozen = await server.saveFrozen(assignment, { ...assignment.frozen, exports, toolSecrets });
  if (frozen !== 'held') return over;
  // Before the report: a confirmation may follow at once, and then the workspace is somebody else's.
  await workspaces.tidy(context.workspace);
  const { hasChanges, delta, steps, marks = [], document } = result;
  const { custom } = metadata;
  const plan = { hasChanges, delta, steps, marks, custom, ...(document && { document }) };
  const report = { ...plan, file, autodeploy: settings.autodeploy };
  if (settings.autodeploy && !commit()) return over;
  return { kind: 'planned', answer: await server.planned(assignment, report, context.draining) };
}

/** A plan of 10,000 resources is some 20 MB. */
const maxPlanBytes = 256 * 1024 * 1024;

export async function apply(context: RunContext, bound: Bound, followsPlan: boolean): Promise<StepResult> {
  const { assignment, vendor, sandbox } = context;
  const destroys = assignment.run.type === 'DESTROY';
  const phase = openPhase(context, destroys ? 'destroying' : 'applying', 'apply');
  const before = await runHooks(context, phase, destroys ? 'beforeDestroy' : 'beforeApply');
  if (before.kind !== 'ok') return before;
  const kind = destroys ? 'destroy' : 'apply';
  const ran = await withPlanFile(context, bound, (planFile) => {
    const planPath = planFile && (sandbox.kind === 'none' ? planFile : insidePlan);
    return runVendorCommand(
      context,
      phase,
      (output) => vendor.apply(vendorContext(context, output), kind, { planPath, followsPlan }),
      (outputs) => vendor.readApply(outputs, async () => (await confirmedSteps(context)) ?? []),
      { extraMounts: planFile ? [{ source: planFile, target: insidePlan, writable: false }] : [] },
    );
  });
  if (ran.kind !== 'ran') return ran;
  if (ran.value.kind !== 'applied') return vendorFailure(ran.value);
  return runHooks(context, phase, destroys ? 'afterDestroy' : 'afterApply');
}

export async function perform(context: RunContext): Promise<StepResult> {
  const phase = openPhase(context, 'performing', 'apply');
  return inOrder(
    [
      () => runHooks(context, phase, 'beforePerform'),
      () => runTask(context, phase),
      () => runHooks(context, phase, 'afterPerform'),
    ],
    (step) => step(),
  );
}

async function inOrder<T>(items: readonly T[], run: (item: T) => Promise<StepResult>): Promise<StepResult> {
  for (const item of items) {
    const result = await run(item);
    if (result.kind !== 'ok') return result;
  }
  return ok;
}
