import { UserError } from '../user-error.ts';

/**
 * What commands on runs say by throwing: removed meanwhile; a tear-down wants its stack's name typed; approval policies
 * have not approved it, or there are none; not over yet;
 * another branch is tracked now, forks are not previewed any more, GitHub lets nothing be done there.
 */
const codes = [
  'not-found',
  'confirmation-required',
  'approval-required',
  'no-approval-policies',
  'run-not-over',
  'commit-not-tracked',
  'forks-not-allowed',
  'repository-away',
] as const;

export interface CommandRefusal {
  readonly code: (typeof codes)[number];
  readonly message: string;
}

/** For callers to whom a refusal is an answer. Throws whatever is none. */
export function commandRefusal(error: unknown): CommandRefusal {
  const code = error instanceof UserError && codes.find((each) => each === error.code);
  if (!code) throw error;
  return { code, message: error.message };
}
