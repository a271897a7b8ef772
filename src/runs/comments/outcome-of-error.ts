import type { Stack } from '../../stacks/stack.ts';
import { commandRefusal } from '../command-refusal.ts';
import type { Outcome } from '../conversation.ts';
import { refused } from './act.ts';

/** What a command on runs refused by throwing. Throws whatever is no refusal. */
export function outcomeOfError(error: unknown, { settings }: Stack): Outcome {
  const { code, message } = commandRefusal(error);
  switch (code) {
    case 'not-found':
      return refused({ code: 'removed' });
    case 'run-not-over':
      return refused({ code: 'no-run-over' });
    case 'commit-not-tracked':
      return refused({ code: 'promotion-off', branch: settings.branch });
    case 'forks-not-allowed':
      return refused({ code: 'forks-not-allowed' });
    case 'repository-away':
      return refused({ code: 'repository-away', reason: message });
    // No tear-down gets as far as that by a comment.
    case 'confirmation-required':
      throw error;
  }
}
