/** What the server would decide about an event, as far as that can be known without GitHub and without a database. */
export interface Simulation {
  readonly event: string;
  readonly repository: string;
  /** Whether something would be done at all; else why not is in `reason`. */
  readonly outcome: 'decided' | 'ignored' | 'failed';
  readonly reason: string | null;
  readonly stacks: readonly StackDecision[];
  /** Null when it plays no part. */
  readonly changedPaths: ChangedPaths | null;
  /** Of comments only. */
  readonly command: CommandDecision | null;
  /** What the decision rests on and was taken for granted: "would be asked: ...". */
  readonly notes: readonly string[];
}

export interface StackDecision {
  readonly stack: string;
  readonly selected: boolean;
  /** Why, or why not. */
  readonly reason: string;
  readonly type?: 'TRACKED' | 'PROPOSED';
  /** Untrusted runs get no secrets. */
  readonly trusted?: boolean;
}

export interface ChangedPaths {
  /** `unknown`: then every stack counts as affected. */
  readonly from: 'payload' | 'checkout' | 'unknown';
  readonly paths: readonly string[];
}

export interface CommandDecision {
  readonly verb: string | null;
  /** What the sender needs. */
  readonly role: string | null;
  /** The glob as it was given. */
  readonly stacks: string | null;
  readonly task: string | null;
  readonly problem: string | null;
}

export type Decision = Omit<Simulation, 'event' | 'repository'>;

export const nothing = (outcome: 'ignored' | 'failed', reason: string): Decision => ({
  ...{ outcome, reason, stacks: [], changedPaths: null, command: null, notes: [] },
});

/** Policies are in the database: what is said of a stack is what holds without them. */
export const lookUpPolicies =
  'would be looked up: whether push policies judge a stack; if so, they decide, and not what is said here';
