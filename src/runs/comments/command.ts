import type { Verb } from './verbs.ts';

/** What a comment that is addressed to us says; github/comments/parse-command.ts reads it. */
export type AddressedCommand = UnderstoodCommand | MisunderstoodCommand;

export interface UnderstoodCommand {
  readonly kind: 'command';
  readonly verb: Verb;
  /** Which stacks, as a glob of their ids; null: those that the pull request concerns. */
  readonly stacks: string | null;
  /** What a task runs, as it was written but for blanks at both ends; null for every other verb. */
  readonly task: string | null;
}

/** Answered with the reason. */
export interface MisunderstoodCommand {
  readonly kind: 'misunderstood';
  readonly reason: string;
  readonly didYouMean: Verb | null;
}
