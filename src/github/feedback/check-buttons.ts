import type { GateStanding } from '../../runs/approvals/gate.ts';
import type { Button } from '../../runs/buttons.ts';
import { isTerminal, possibleCommands, type Run } from '../../runs/run.ts';
import type { Stack } from '../../stacks/stack.ts';
import { baseOfQueueBranch } from '../merge-queue-branch.ts';

export interface CheckAction {
  /** At most 20 characters, like `identifier`; `description` at most 40. */
  readonly label: string;
  readonly description: string;
  /** Typed, so that none is shown for which nothing is done. */
  readonly identifier: Button;
}

const ofCommand = {
  confirm: action('confirm', 'Confirm and apply', 'Makes the changes of this preview'),
  discard: action('discard', 'Discard plan', 'Nothing is changed'),
  cancel: action('cancel', 'Cancel run', 'It has not begun yet'),
  stop: action('stop', 'Stop run', 'Nothing has been changed yet'),
} satisfies Partial<Record<Button, CheckAction>>;
// Two pairs, so that what is pressed below a run that has not begun never counts for its plan.
const beforePlan = [
  action('approve-start', 'Approve', 'It may begin, as far as you say'),
  action('reject-start', 'Reject', 'Approval policies go by it'),
];
const ofPlan = [
  action('approve', 'Approve', 'It may go on, as far as you say'),
  action('reject', 'Reject', 'Approval policies go by it'),
];
const retry = action('retry', 'Retry run', 'A new run of the same commit');
const deploy = action('deploy', 'Deploy', 'A run that applies this commit');
const preview = action('preview', 'Preview again', 'A new preview of the branch as it is now');

function action(identifier: Button, label: string, description: string): CheckAction {
  return { label, description, identifier };
}

/** The buttons below the check of a run, by what it waits for: at most three. Pure. */
export function buttonsOf(
  run: Run,
  stack: Stack,
  gate: GateStanding['kind'] = 'open',
): readonly CheckAction[] {
  const { state, type } = run;
  if (state === 'FINISHED') return type === 'PROPOSED' ? ofPreview(run, stack) : [];
  if (isTerminal(state)) return [retry];
  const isShut = gate === 'shut';
  // A tear-down is confirmed with the name of its stack, which a button cannot ask for.
  const isConfirmable = !isShut && type !== 'DESTROY';
  const commands = possibleCommands(run)
    .filter((command) => command !== 'confirm' || isConfirmable)
    .map((command) => ofCommand[command]);
  if (!isShut) return commands;
  return [...(state === 'QUEUED' ? beforePlan : ofPlan), ...commands];
}

function ofPreview({ branch, pullRequest }: Run, { settings }: Stack): readonly CheckAction[] {
  // Not below a merge group either: the queue decides what becomes of it, and soon its branch is gone.
  if (pullRequest?.isFork || baseOfQueueBranch(branch) !== null) return [];
  return settings.promotion ? [deploy, preview] : [preview];
}
