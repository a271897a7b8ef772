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
