import type { ReportedPlan } from '../runs/plan-report.ts';
import type { Outcome, Run } from '../runs/run.ts';
import type { Frozen, Phase, RunCommandRecord } from '../runs/run-store.ts';
import type { Stack } from '../stacks/stack.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { PlanDocument } from './vendor-results.ts';

/**
 * Everything a worker may ask of the server. The worker never sees the database, GitHub or a key: in
 * this edition it runs in the same process, later it speaks to the same methods over HTTP. Every call that
 * reports something carries the lease; after `lost` the worker must kill its sandbox and report no more.
 */
export interface ServerApi {
  /**
   * The next piece of work, waiting for one if need be; null after `maxWaitMs` or when `signal` aborts.
   * The run's state has been changed with the claim. `finish`: only what is left of runs that are over.
   */
  claim(what: 'any' | 'finish', maxWaitMs: number, signal: AbortSignal): Promise<Assignment | null>;

  /**
   * Keeps the lease alive and answers at the latest after `maxWaitMs`, at once when the run ended (a
   * person stopped it) or the lease was lost. A run that is over still needs its lease kept alive until
   * `finished`: otherwise a second worker gets the same work.
   */
  heartbeat(assignment: Assignment, maxWaitMs: number, signal: AbortSignal): Promise<LeaseStatus>;

  /** Puts the run's commit into `workTree`, its git directory into `gitDir`. Rejects with a UserError. */
  fetchSource(assignment: Assignment, target: SourceTarget, signal: AbortSignal): Promise<void>;

  /** Keeps the frozen settings for the second half of the run. */
  saveFrozen(assignment: Assignment, frozen: Frozen): Promise<LeaseStatus>;
  prepared(assignment: Assignment): Promise<LeaseStatus>;
  initialized(assignment: Assignment): Promise<LeaseStatus>;
  /**
   * The server decides what comes next; `apply` keeps this lease and workspace, `wait` ends the job. Policies may take
   * minutes: when `draining` aborts before they are done, the answer is `undecided`, and nothing has changed.
   */
  planned(assignment: Assignment, plan: PlanReport, draining: AbortSignal): Promise<PlanAnswer>;
  /** The changing half succeeded. */
  applied(assignment: Assignment): Promise<LeaseStatus>;
  failed(assignment: Assignment, failure: FailureReport): Promise<LeaseStatus>;
  /**
   * The worker stops and cannot end the first half: it starts again elsewhere, however often that happens.
   * Rejects once the run may have changed the world.
   */
  handBack(assignment: Assignment): Promise<LeaseStatus>;
  /** The plan of the run, decrypted, when it has the digest that was confirmed; else null. */
  planFile(assignment: Assignment): Promise<Uint8Array | null>;
  /** The steps of that plan, as they were reported; null when they are gone or were altered. */
  planSteps(assignment: Assignment): Promise<readonly unknown[] | null>;

  /** Where the log of a phase ends. Null once the lease is lost: somebody else writes it then. */
  logSize(assignment: Assignment, phase: Phase): Promise<number | null>;
  /**
   * Redacted output, at the end of the log; answers where that is now, null once the lease is lost. Without an
   * answer say the same again: what did arrive is not stored twice.
   */
  log(assignment: Assignment, phase: Phase, offset: number, bytes: Uint8Array): Promise<number | null>;
  /** Dropped like output. */
  command(assignment: Assignment, record: RunCommandRecord): Promise<void>;
  /** The workspace is gone and so is the job. */
  finished(assignment: Assignment): Promise<void>;
}

/** `ended`: the run is over, what is left is after_run hooks and the removal of the workspace. */
export type LeaseStatus = 'held' | 'ended' | 'lost';

export interface Assignment {
  readonly lease: { readonly id: string; readonly attempt: number };
  /** `plan` and `apply` are the halves of a run; `finish` is what is left when it ended without a worker. */
  readonly half: 'plan' | 'apply' | 'finish';
  readonly run: Run;
  readonly stack: Stack;
  readonly frozen: Frozen;
  /** An apply of the stack was cut off, and nothing has been planned since. Left out: false. */
  readonly isAfterCutOff?: boolean;
}

export interface SourceTarget {
  readonly gitDir: string;
  readonly workTree: string;
}

export type PlanReport = Omit<ReportedPlan, 'document'> & { readonly document?: PlanDocument };

export type PlanAnswer = { readonly next: 'apply' | 'wait' | 'end' | 'undecided' | 'lost' };

export interface FailureReport {
  readonly outcome: Outcome;
  /** For people: what happened, and what to do. */
  readonly note: string;
  /** What Slipway offers to mend. */
  readonly trouble?: ToolTrouble;
}
