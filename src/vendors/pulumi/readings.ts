import type { CommandOutputs } from '../../worker/vendor.ts';
import type { ApplyResult, PlanResult, PlanStep, VendorFailure } from '../../worker/vendor-results.ts';
import { hasChanges } from './changes.ts';
import { planFile } from './commands.ts';
import { toDelta } from './delta.ts';
import type { Summary } from './event-log.ts';
import { explainFailure } from './failure.ts';
import { type Operation, readOperation } from './operation.ts';
import { parseSavedPlan } from './saved-plan.ts';
import { toMarks, toPlanSteps } from './steps.ts';

/** What the commands of planning and applying have left: the exit code and the event log must tell the same. */

/** Far more than any plan; the worker has its own limit. */
const maxPlanBytes = 256 * 1024 * 1024;

export async function readPlan(
  outputs: CommandOutputs,
  kind: 'apply' | 'destroy' = 'apply',
): Promise<PlanResult> {
  const read = await readSuccess(outputs, { isPreview: true });
  if ('kind' in read) return read;
  const { steps, summary } = read;
  // A tear-down does not run the program.
  if (kind === 'apply' && !programRan(steps)) return declaredNothing();
  const plan = toPlanSteps(steps);
  if ('unknownOp' in plan) {
    const message = `The plan has a step "${plan.unknownOp}" that Slipway does not know.`;
    return unreadable(message, 'A newer Slipway may know it.');
  }
  const text = await textOf(outputs, planFile);
  const saved = text === '' ? null : parseSavedPlan(text);
  if (text !== '' && saved === null)
    return unreadable('The plan that pulumi saved is damaged.', leaveItAlone);
  return {
    kind: 'planned',
    hasChanges: hasChanges(steps, saved),
    delta: toDelta(summary, steps),
    steps: plan.steps,
    marks: toMarks(steps),
    planFile: saved === null ? null : planFile,
  };
}

/** The first thing that the SDK of every language does is to declare the stack itself. */
function programRan(steps: Operation['steps']): boolean {
  return steps.some(({ type, op }) => type === 'pulumi:pulumi:Stack' && !['refresh', 'delete'].includes(op));
}

/** To pulumi that is a success: a program that wants nothing, for which everything there is has to go. */
function declaredNothing(): VendorFailure {
  return unreadable(
    'The program declared nothing, not even the stack itself: it never ran, or ended before it began.',
    'Check `runtime` and `main` in Pulumi.yaml, and that the program does not exit early. To tear the stack down, start a DESTROY run.',
  );
}

export async function readApply(
  outputs: CommandOutputs,
  confirmed: () => Promise<readonly PlanStep[]> = () => Promise.resolve([]),
): Promise<ApplyResult> {
  const read = await readSuccess(outputs, { isPreview: false, confirmed });
  return 'kind' in read ? read : { kind: 'applied' };
}

type Success = Operation & { readonly summary: Summary };

async function readSuccess(
  outputs: CommandOutputs,
  expected: { isPreview: boolean; confirmed?: () => Promise<readonly PlanStep[]> },
): Promise<Success | VendorFailure> {
  const operation = await readOperation(outputs);
  const summary = operation?.summary ?? null;
  if (outputs.exitCode !== 0) {
    const isApply = !expected.isPreview;
    let failure = explainFailure(outputs, operation, { isApply });
    if (failure.kind === 'plan-changed' && expected.confirmed) {
      failure = explainFailure(outputs, operation, { isApply, confirmed: await expected.confirmed() });
    }
    if (operation?.broken !== null || summary?.result !== 'succeeded') return failure;
    // A preview that succeeded and a plan that could not be saved, for instance: nobody knows what holds.
    const message = `pulumi ended with exit code ${outputs.exitCode}, but its event log reports success.`;
    return { ...failure, kind: 'unreadable', message: `${message}\n${failure.message}` };
  }
  if (operation === null) {
    return unreadable('pulumi ended well but left no event log, or one that is too large.', leaveItAlone);
  }
  if (operation.broken !== null) {
    return unreadable(`The event log of pulumi is damaged: ${operation.broken}.`, leaveItAlone);
  }
  if (summary === null || summary.isPreview !== expected.isPreview) {
    return unreadable('The event log of pulumi is of another operation.', leaveItAlone);
  }
  if (summary.result !== 'succeeded') {
    return unreadable(
      `pulumi ended with exit code 0, but its event log says "${summary.result}".`,
      leaveItAlone,
    );
  }
  return { ...operation, summary };
}

const leaveItAlone =
  'See that no program or hook writes to the file that PULUMI_OPTION_EVENT_LOG names, then retry the run.';

function unreadable(message: string, hint: string): VendorFailure {
  return { kind: 'unreadable', message, hint };
}

/** Empty when there is no such file. */
async function textOf(outputs: CommandOutputs, name: string): Promise<string> {
  const bytes = await outputs.read(name, maxPlanBytes);
  return bytes === null ? '' : Buffer.concat(await Array.fromAsync(bytes)).toString('utf8');
}
