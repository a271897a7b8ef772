import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runPlanCommands } from './plan-commands.ts';
import { hiddenSteps } from './redaction.ts';
import {
  failed,
  type PhaseContext,
  type RunContext,
  type StepFailure,
  vendorFailure,
} from './run-context.ts';
import type { DestroyBinding } from './vendor.ts';
import type { PlanStep } from './vendor-results.ts';

/**
 * What is applied is what was confirmed: by the tool's own saved plan, or, for a tear-down that takes none,
 * by planning it once more. It decides before any hook or command of the second half runs.
 */
export interface Bound {
  readonly kind: 'bound';
  /** The saved plan; null when no plan file binds the run. */
  readonly plan: Uint8Array | null;
}

const unbound: Bound = { kind: 'bound', plan: null };
const missing = failed(
  'plan_changed',
  'The confirmed plan is missing or was altered; nothing was applied.',
  'Start a new run and confirm its plan.',
);

/** Whether the run needs the plan that the tool saves. */
export function bindsByFile({ assignment, vendor }: RunContext): boolean {
  if (!assignment.frozen.settings.planBinding) return false;
  if (assignment.run.type === 'DESTROY') return vendor.destroyBinding.kind === 'plan-file';
  return assignment.run.type === 'TRACKED';
}

/** `phase` is for the log of a second plan. */
export async function bindToPlan(
  context: RunContext,
  phase: PhaseContext,
): Promise<Bound | StepFailure | { readonly kind: 'over' }> {
  const { assignment, server, vendor } = context;
  if (bindsByFile(context)) {
    const plan = await server.planFile(assignment);
    return plan ? { kind: 'bound', plan } : missing;
  }
  const { destroyBinding } = vendor;
  const isTearDown = assignment.run.type === 'DESTROY' && assignment.frozen.settings.planBinding;
  return isTearDown && destroyBinding.kind === 'second-plan'
    ? planAgain(context, phase, destroyBinding)
    : unbound;
}

async function planAgain(
  context: RunContext,
  phase: PhaseContext,
  binding: Extract<DestroyBinding, { kind: 'second-plan' }>,
): Promise<Bound | StepFailure | { readonly kind: 'over' }> {
  const { secrets, vendor } = context;
  const confirmed = await confirmedSteps(context);
  if (!confirmed) return missing;
  phase.log.line('[planning once more: it must still be what was confirmed]');
  const ran = await runPlanCommands(context, phase, 'destroy', (outputs) =>
    vendor.readPlan(outputs, 'destroy'),
  );
  if (ran.kind !== 'ran') return ran;
  if (ran.value.kind !== 'planned') return vendorFailure(ran.value);
  // The stored steps went through the redactor; an id may hold what it hides.
  const now = await hiddenSteps(secrets.ofPeople, ran.value.steps);
  const difference = binding.compare(confirmed, now);
  return difference ? vendorFailure(difference) : unbound;
}

/**
 * Runs `work` with the plan in a file on this host where the run cannot write, in clear no longer than that:
 * the hooks before it are over. Without a plan the path is null.
 */
export async function withPlanFile<T>(
  { workspace }: RunContext,
  { plan }: Bound,
  work: (path: string | null) => Promise<T>,
): Promise<T> {
  if (plan === null) return work(null);
  const path = join(workspace.root, 'plan');
  try {
    await writeFile(path, plan, { mode: 0o644 });
    return await work(path);
  } finally {
    await rm(path, { force: true });
  }
}

/** As `readPlan` gave them, but for hidden secrets; null when they are gone or were altered. */
export async function confirmedSteps({
  assignment,
  server,
}: RunContext): Promise<readonly PlanStep[] | null> {
  return (await server.planSteps(assignment)) as readonly PlanStep[] | null;
}
