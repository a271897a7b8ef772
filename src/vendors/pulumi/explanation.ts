import type { ToolTrouble } from '../../stacks/vendor-settings.ts';

export interface Explanation {
  readonly message: string;
  readonly hint?: string;
  readonly trouble?: ToolTrouble;
}

/** One text of the real CLI that a person can do something about. */
export interface Rule {
  readonly pattern: RegExp;
  explain(match: RegExpExecArray, nowMs: number): Explanation;
}

export const networkHint =
  'Runs reach only what SANDBOX_NETWORK and SANDBOX_ALLOWED_HOSTS let through; ask the operator of this server.';
