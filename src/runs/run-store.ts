import type { EnvironmentVariable } from '../stacks/environment.ts';
import type { PullRequest } from '../stacks/pull-request.ts';
import type { Commit } from '../stacks/repository.ts';
import type { StackSettings } from '../stacks/stack.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { Tx } from '../tx.ts';
import type { ResourceMark } from './plan/resource-mark.ts';
import type { Delta, Outcome, Run, RunState, RunType } from './run.ts';
import type { StackSummaries } from './stack-summary.ts';

export interface NewRun {
  readonly id: string;
  readonly stackKey: string;
  readonly type: RunType;
  readonly branch: string;
  readonly commit: Commit;
  readonly pullRequest?: PullRequest;
  readonly isUntrusted?: boolean;
  readonly createdAtMs: number;
  readonly triggeredBy: string;
  readonly startedBy: string;
  readonly command?: string;
  readonly priority: number;
  /** What started it; the same again for the same stack makes no second run. */
  readonly dedupeKey: string;
}

/** What a transition may change besides state and version. */
export interface RunChange {
  readonly state: RunState;
  readonly note: string | null;
  readonly outcome?: Outcome;
  readonly trouble?: ToolTrouble;
  readonly delta?: Delta;
  readonly planDigest?: string;
  /** Null takes an earlier one away. */
  readonly planLikeness?: string | null;
  readonly changesDigest?: string;
  readonly restarts?: number;
  readonly hadWorker?: true;
}

export interface StoredEvent {
  readonly state: RunState;
  readonly stateVersion: number;
  readonly timestampMs: number;
  readonly actor: string;
  readonly note: string | null;
}

export interface RunCommandRecord {
  readonly phase: Phase;
  readonly label: string;
  readonly argv: readonly string[];
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Null when it was killed. */
  readonly exitCode: number | null;
}

export const phases = [
  'preparing',
  'initializing',
  'planning',
  'applying',
  'destroying',
  'performing',
] as const;
export type Phase = (typeof phases)[number];

/** A run's plan as people look at it. `steps` are JSON objects in the shape of the specification, §2.3. */
export interface StoredPlan {
  readonly hasChanges: boolean;
  readonly steps: readonly unknown[];
  /** Left out: none. */
  readonly marks?: readonly ResourceMark[];
}

/** A plan in the tool's own form, without secrets: what policies see of it instead of `{ steps }`, and under which name. */
export interface PlanDocument {
  readonly name: string;
  /** JSON. */
  readonly content: unknown;
}

/** Everything that is kept of a plan. */
export interface KeptPlan extends StoredPlan {
  /** Left out: policies see the steps. */
  readonly document?: PlanDocument;
  /** What the tool has saved for its apply, if that is wanted. */
  readonly file: Uint8Array | null;
}

declare const sealed: unique symbol;
/** A plan made ready for `savePlan`: deflated and encrypted, which takes time that no transaction should take. */
export interface SealedPlan {
  readonly [sealed]: true;
}

/** What a run goes by from PREPARING to its end, whatever people change meanwhile. */
export interface Frozen {
  readonly settings: StackSettings;
  readonly variables: readonly EnvironmentVariable[];
  /** What its hooks exported. */
  readonly exports: Readonly<Record<string, string>>;
  /** Values that the tool marks as secret in the plan. Left out: none are known yet. */
  readonly toolSecrets?: readonly string[];
}

/** What is left out does not matter. */
export interface PullRequestRunFilter {
  readonly type?: RunType;
  /** Made before this time, not at it. */
  readonly createdBeforeMs?: number;
  readonly isOver?: true;
}

/** Where runs live. Reads see committed data; methods with `tx` see the transaction. */
export interface RunStore extends StackSummaries {
  find(id: string, tx?: Tx): Promise<Run | null>;
  /** Of all its runs, whatever their state. */
  idsOfStack(tx: Tx, stackKey: string): Promise<readonly string[]>;
  /** The newest run of a type, whatever its state. */
  newestOfType(stackKey: string, type: RunType, tx?: Tx): Promise<Run | null>;
  /** The newest run of a type and commit, whatever its state; `trusted`: of those that get secrets. */
  newestOfCommit(
    stackKey: string,
    type: RunType,
    hash: string,
    which: 'any' | 'trusted',
    tx?: Tx,
  ): Promise<Run | null>;
  newestFinished(stackKey: string, type: RunType, tx?: Tx): Promise<Run | null>;
  /** The newest run of a type and branch, whatever its state. */
  newestOfBranch(stackKey: string, type: RunType, branch: string, tx?: Tx): Promise<Run | null>;
  /** Of all stacks of the repository, newest first, at most 500. */
  ofPullRequest(repositoryId: number, number: number, tx?: Tx): Promise<readonly Run[]>;
  /** The newest run of a stack and pull request that is all that `which` says. */
  newestOfPullRequest(
    stackKey: string,
    number: number,
    which: PullRequestRunFilter,
    tx?: Tx,
  ): Promise<Run | null>;
  /** The runs of a stack that are not over, oldest first. */
  unfinished(stackKey: string, tx?: Tx): Promise<readonly Run[]>;
  /** Its previews of a branch that are not over. */
  unfinishedPreviews(stackKey: string, branch: string, tx?: Tx): Promise<readonly Run[]>;
  /** Its previews in QUEUED. */
  queuedPreviews(stackKey: string, tx?: Tx): Promise<readonly Run[]>;
  /** Its newest blocking runs, newest first, at most so many; whatever their state. */
  newestBlocking(stackKey: string, limit: number, tx?: Tx): Promise<readonly Run[]>;
  /** Its blocking run that is neither in QUEUED nor over: there is at most one. */
  activeRun(stackKey: string, tx?: Tx): Promise<Run | null>;
  /** The blocking run in QUEUED whose turn is next: highest priority, then oldest. Of that starter only, if given. */
  firstQueued(stackKey: string, startedBy: string | null, tx?: Tx): Promise<Run | null>;
  /** How many blocking runs of the stack are in QUEUED. */
  countQueued(stackKey: string): Promise<number>;
  /** The stacks that have a run in QUEUED. */
  stacksWithQueued(): Promise<readonly string[]>;
  /** Of all stacks, oldest first. Not for states that end a run. */
  inState(states: readonly RunState[]): Promise<readonly Run[]>;
  /** Oldest first. */
  events(runId: string, tx?: Tx): Promise<readonly StoredEvent[]>;
  /** Those with a higher version than that. */
  eventsAfter(runId: string, stateVersion: number): Promise<readonly StoredEvent[]>;

  /** Inserts with state QUEUED, version 1. 'duplicate' when the stack has a run with that dedupe key. */
  insert(tx: Tx, run: NewRun): Promise<Run | 'duplicate'>;
  /**
   * Compare-and-set: changes the run only while it has `stateVersion`; null when somebody was faster.
   * 'blocked' when another blocking run of the stack is active (the database's own mutex).
   */
  change(tx: Tx, id: string, stateVersion: number, change: RunChange): Promise<Run | null | 'blocked'>;
  insertEvent(tx: Tx, runId: string, event: StoredEvent): Promise<void>;
  setRenewed(tx: Tx, id: string): Promise<void>;
  setPullRequest(tx: Tx, id: string, pullRequest: PullRequest): Promise<void>;
  setPriority(tx: Tx, id: string, priority: number): Promise<void>;

  /** Appends; the ordinal is given here. */
  addCommand(tx: Tx, runId: string, command: RunCommandRecord): Promise<void>;
  commands(runId: string, tx?: Tx): Promise<readonly RunCommandRecord[]>;

  /** Outside of any transaction: the work on a plan of thousands of resources. */
  sealPlan(runId: string, plan: KeptPlan): Promise<SealedPlan>;
  /** For the run it was sealed for; replaces an earlier one. */
  savePlan(tx: Tx, plan: SealedPlan): Promise<void>;
  plan(runId: string): Promise<StoredPlan | null>;
  /** For policies only: it has more than people are shown. Null without one. */
  planDocument(runId: string): Promise<PlanDocument | null>;
  /** Another one for every plan that is saved; null without one. Cheaper than the plan. */
  planVersion(runId: string): Promise<string | null>;
  planFile(runId: string): Promise<Uint8Array | null>;
  /** What the run was frozen with, encrypted at rest. */
  saveFrozen(tx: Tx, runId: string, frozen: Frozen): Promise<void>;
  frozen(runId: string, tx?: Tx): Promise<Frozen | null>;
  /** At the end of a run: its frozen settings and plan file go, its steps stay. */
  forgetSecrets(tx: Tx, runId: string): Promise<void>;
}
