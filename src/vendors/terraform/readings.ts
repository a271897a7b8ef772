import type { CommandOutputs } from '../../worker/vendor.ts';
import type { ApplyResult, PlanResult, VendorFailure } from '../../worker/vendor-results.ts';
import { hasChanges } from './changes.ts';
import { planFile, somethingToDo } from './commands.ts';
import { toDelta } from './delta.ts';
import { maskPlan } from './document.ts';
import { documentWords } from './document-words.ts';
import { explainFailure } from './failure.ts';
import type { Flavour } from './flavour.ts';
import { checkNesting, TooDeepError } from './masks.ts';
import { checkPlan } from './plan-json.ts';
import { isReadable } from './plan-size.ts';
import { toSteps } from './steps.ts';

/** What the commands of planning and applying have left: the exit code and the plan must tell the same. */

/** `outputs`: of `plan`, then of `show`, when the first succeeded. */
export function readPlan(
  flavour: Flavour,
  [planned, shown]: readonly [CommandOutputs, ...CommandOutputs[]],
): PlanResult {
  if (shown === undefined) return explainFailure(flavour, planned);
  if (shown.exitCode !== 0) return explainFailure(flavour, shown);
  if (shown.captured === null || !isReadable(shown.captured)) {
    return unreadable('The plan is too large to be read.', 'Split the stack into smaller ones.');
  }
  const json = parse(shown.captured);
  if (json === undefined) return damaged('it is no JSON');
  try {
    checkNesting(json);
    return readJson(json, planned.exitCode === somethingToDo);
  } catch (error) {
    if (error instanceof TooDeepError) return damaged(error.message);
    throw error;
  }
}

function readJson(json: unknown, saysChanges: boolean): PlanResult {
  const checked = checkPlan(json);
  if ('problem' in checked) return damaged(checked.problem);
  if (checked.plan.errored) return damaged('it is of a plan that failed');
  if (hasChanges(checked.plan) !== saysChanges) {
    return unreadable(
      `The exit code of the plan says that there is ${saysChanges ? 'something' : 'nothing'} to change, and the plan itself the opposite.`,
      leaveItAlone,
    );
  }
  const { document, secrets } = maskPlan(json, checked.plan);
  const masked = checkPlan(document);
  if ('problem' in masked) return damaged(masked.problem);
  const read = toSteps(masked.plan);
  if ('unknownAction' in read) {
    const message = `The plan has an action "${read.unknownAction}" that Slipway does not know.`;
    return unreadable(message, 'A newer Slipway may know it.');
  }
  const { steps, marks } = read;
  return {
    kind: 'planned',
    hasChanges: saysChanges,
    delta: toDelta(masked.plan, steps),
    steps,
    marks,
    planFile,
    document: { name: 'terraform', content: document, words: documentWords(masked.plan) },
    secrets,
  };
}

export function readApply(flavour: Flavour, outputs: CommandOutputs): ApplyResult {
  return outputs.exitCode === 0 ? { kind: 'applied' } : explainFailure(flavour, outputs, { isApply: true });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

const leaveItAlone =
  'See that no program or hook replaces the plan in the output directory of the tool, then retry the run.';

const damaged = (reason: string) => unreadable(`The plan in JSON cannot be read: ${reason}.`, leaveItAlone);

function unreadable(message: string, hint: string): VendorFailure {
  return { kind: 'unreadable', message, hint };
}
