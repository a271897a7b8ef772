import { awayReason } from '../stacks/away.ts';
import type { PullRequest } from '../stacks/pull-request.ts';
import type { Stack, StackSettings } from '../stacks/stack.ts';
import { UserError } from '../user-error.ts';
import type { RunType } from './run.ts';

/** Throws `repository-away`. */
export function requireReach(stack: Stack): void {
  const reason = awayReason(stack);
  if (reason === null) return;
  throw new UserError('repository-away', `Nothing can be started: ${reason}.`, {
    hint: 'It can again once GitHub lets the App work in the repository.',
  });
}

/** What may change the world takes commits of the tracked branch only, unless promotion is on. Throws `commit-not-tracked`. */
export function requireTracked(settings: StackSettings, type: RunType, branch: string): void {
  if (type === 'PROPOSED' || branch === settings.branch || settings.promotion) return;
  throw new UserError('commit-not-tracked', `Runs of type ${type} take commits of ${settings.branch} only.`, {
    hint: 'Turn promotion on for the stack, or start a PROPOSED run.',
    issues: [{ path: 'branch', message: `must be ${settings.branch}` }],
  });
}

/** Throws `forks-not-allowed`. */
export function requireForksAllowed(settings: StackSettings, pullRequest: PullRequest | undefined): void {
  if (!pullRequest?.isFork || settings.allowForks) return;
  throw new UserError('forks-not-allowed', 'The stack does not preview pull requests of forks.', {
    hint: 'Set allowForks for the stack, or push the commit to a branch of the repository.',
  });
}
