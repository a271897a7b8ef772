import { type Stack, showsDetails } from '../../stacks/stack.ts';
import { commandRefusal } from '../command-refusal.ts';
import type { Outcome } from '../conversation.ts';
import { refused } from './act.ts';

/** What a command on runs refused by throwing. Throws whatever is no refusal. */
export function outcomeOfError(error: unknown, stack: Stack): Outcome {
  const { code, message } = commandRefusal(error);
  switch (code) {
    case 'not-found':
      return refused({ code: 'removed' });
    case 'run-not-over':
      return refused({ code: 'no-run-over' });
    case 'commit-not-tracked':
      return refused({ code: 'promotion-off', branch: stack.settings.branch });
    case 'forks-not-allowed':
      return refused({ code: 'forks-not-allowed' });
    case 'repository-away':
      return refused({ code: 'repository-away', reason: message });
    case 'no-approval-policies':
      return refused({ code: 'no-approval-policies' });
    case 'approval-required':
      return refused({ code: 'approval-required', reason: showsDetails(stack) ? message : null });
    // No tear-down gets as far as that by a comment.
    case 'confirmation-required':
      throw error;
  }
}
