import type { Button } from '../../runs/buttons.ts';
import { isTerminal, type Run } from '../../runs/run.ts';
import type { Stack } from '../../stacks/stack.ts';
import { baseOfQueueBranch } from '../merge-queue-branch.ts';

export interface CheckAction {
  /** At most 20 characters, like `identifier`; `description` at most 40. */
  readonly label: string;
  readonly description: string;
  /** Typed, so that none is shown for which nothing is done. */
  readonly identifier: Button;
}

const confirm = action('confirm', 'Confirm and apply', 'Makes the changes of this preview');
const discard = action('discard', 'Discard plan', 'Nothing is changed');
const cancel = action('cancel', 'Cancel run', 'It has not begun yet');
const stop = action('stop', 'Stop run', 'Nothing has been changed yet');
const retry = action('retry', 'Retry run', 'A new run of the same commit');
const deploy = action('deploy', 'Deploy', 'A run that applies this commit');
const preview = action('preview', 'Preview again', 'A new preview of the branch as it is now');

function action(identifier: Button, label: string, description: string): CheckAction {
  return { label, description, identifier };
}

/** The buttons below the check of a run, by what it waits for: at most three. Pure. */
export function buttonsOf(run: Run, stack: Stack): readonly CheckAction[] {
  const { state, type } = run;
  switch (state) {
    case 'QUEUED':
    case 'READY':
      return [cancel];
    case 'PREPARING':
    case 'INITIALIZING':
    case 'PLANNING':
      return [stop];
    case 'UNCONFIRMED':
      // A tear-down is confirmed with the name of its stack, which a button cannot ask for.
      return type === 'DESTROY' ? [discard] : [confirm, discard];
    case 'PENDING_REVIEW':
      return [discard];
    case 'FINISHED':
      return type === 'PROPOSED' ? ofPreview(run, stack) : [];
    default:
      return isTerminal(state) ? [retry] : [];
  }
}

function ofPreview({ branch, pullRequest }: Run, { settings }: Stack): readonly CheckAction[] {
  // Not below a merge group either: the queue decides what becomes of it, and soon its branch is gone.
  if (pullRequest?.isFork || baseOfQueueBranch(branch) !== null) return [];
  return settings.promotion ? [deploy, preview] : [preview];
}
