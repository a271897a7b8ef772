import { systemClock } from '../../clock.ts';
import type { FailedCommand } from '../../worker/vendor.ts';
import type { PlanStep, VendorFailure } from '../../worker/vendor-results.ts';
import { explainKill, maxLines, shorten, withoutControls } from '../failure-text.ts';
import { explainText } from './errors.ts';
import type { Explanation } from './explanation.ts';
import type { Operation } from './operation.ts';
import { differences, nameOf, violations } from './violation.ts';

/** Of what is listed in a message. */
const maxNames = 10;

interface FailureContext {
  readonly isApply?: boolean;
  readonly confirmed?: readonly PlanStep[];
  /** When it failed. */
  readonly nowMs?: number;
}

/**
 * What a command that ended badly means. Words of pulumi come from its redacted output, never from the event log,
 * which nobody has redacted yet; the log only tells which resources are concerned.
 */
export function explainFailure(
  result: FailedCommand,
  operation: Operation | null,
  { isApply = false, confirmed = [], nowMs = systemClock.nowMs() }: FailureContext = {},
): VendorFailure {
  const stderr = withoutControls(result.stderrTail);
  const lacking = violations(stderr, operation, confirmed);
  if (lacking.length > 0) return violated(lacking, operation);

  const known: Explanation =
    explainKill('pulumi', result.exitCode, isApply ? halfDone : null) ??
    explainText(stderr, nowMs) ??
    ownWords(stderr, result.exitCode);
  const lines = [known.message, ...aboutSteps(operation)];
  if (isApply && failedInPreview(operation)) lines.push('It failed in its own preview; nothing was changed.');
  const { hint = seeLog, trouble } = known;
  const message = shorten(lines.join('\n'));
  return { kind: 'failed', message, hint, ...(trouble ? { trouble } : {}) };
}

const seeLog =
  'The log of the run has everything that pulumi said. Correct the cause, then push or retry the run.';

const halfDone = 'What it had begun may be half done: check the real state, then retry the run.';

function violated(lines: readonly string[], operation: Operation | null): VendorFailure {
  const head = failedInPreview(operation)
    ? 'The plan you confirmed no longer holds. Nothing was changed.'
    : 'The plan no longer holds. What was done before that was noticed stays done.';
  return {
    kind: 'plan-changed',
    message: shorten([head, ...listOf(lines)].join('\n')),
    hint: 'Start a new run to see what would be done now. If the program cannot be planned twice alike, turn plan binding off for this stack.',
  };
}

/** Whether a tear-down would still do what was confirmed. */
export function compareTearDowns(
  confirmed: readonly PlanStep[],
  now: readonly PlanStep[],
): VendorFailure | null {
  const lines = differences(confirmed, now);
  if (lines.length === 0) return null;
  return {
    kind: 'plan-changed',
    message: shorten(
      ['The plan you confirmed no longer holds. Nothing was destroyed.', ...listOf(lines)].join('\n'),
    ),
    hint: 'Start a new run to see what would be destroyed now.',
  };
}

/** `up` and `destroy` preview first unless told otherwise, and do nothing more when that fails. */
function failedInPreview(operation: Operation | null): boolean {
  return operation?.summary?.isPreview === true;
}

function aboutSteps(operation: Operation | null): string[] {
  if (operation === null) return [];
  const failed = operation.failedSteps.map(({ op, urn }) => `${op} of ${nameOf(urn)}`);
  const policies = operation.violatedPolicies.map((policy) => `policy ${policy}`);
  return listOf([...new Set([...failed, ...policies])].map((what) => `failed: ${what}`));
}

function listOf(lines: readonly string[]): string[] {
  const shown = lines.slice(0, maxNames).map((line) => `- ${line}`);
  return lines.length > maxNames ? [...shown, `- and ${lines.length - maxNames} more`] : shown;
}

/** What the CLI says last and always, after the message that matters. */
const noise = [
  /^(preview|update|destroy) failed$/,
  /^error reading from server: EOF$/,
  /^expected resource operations for urn:pulumi:[^\n]* but none were seen$/,
];
/** What the program itself said can come before it or behind. */
const programExit = /^an unhandled error occurred: program exited with non-zero exit code: (-?\d+)(?:\n|$)/i;

/** Its error messages, or the end of what it said. */
function ownWords(stderr: string, exitCode: number): Explanation {
  const errors = `\n${stderr}`
    .split(/\nerror: /)
    .slice(1)
    .map((error) => error.trim());
  const telling = errors.filter((error) => ![...noise, programExit].some((pattern) => pattern.test(error)));
  if (telling.length > 0) return { message: telling.join('\n') };
  const code = errors.map((error) => programExit.exec(error)?.[1]).find((found) => found !== undefined);
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('error: '));
  const said = lines.slice(-maxLines).join('\n');
  if (code !== undefined) return { message: `${programEnded(code)}${said === '' ? '' : `\n${said}`}` };
  return { message: said || (errors[0] ?? `pulumi ended with exit code ${exitCode} and gave no reason.`) };
}

function programEnded(code: string): string {
  return code === '-1' ? 'The program was killed.' : `The program ended with exit code ${code}.`;
}
