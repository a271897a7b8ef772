import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Outcome } from '../runs/run.ts';
import type { Phase } from '../runs/run-store.ts';
import { type RunHalf, trustOfCommand, visibleVariables } from '../runs/trust.ts';
import type { Limits, Sandbox } from '../sandbox/sandbox.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { PhaseBudget } from './budget.ts';
import { cacheEnvironment } from './cache-environment.ts';
import type { Caches } from './caches.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { PhaseLog } from './logs.ts';
import type { NetworkPolicy, RunNetwork } from './run-network.ts';
import type { Assignment, ServerApi } from './server-api.ts';
import type { Vendor, VendorContext } from './vendor.ts';
import type { VendorFailure } from './vendor-results.ts';
import type { Workspace, Workspaces } from './workspace.ts';

/** What the worker was given when it was built. */
export interface WorkerParts {
  readonly server: ServerApi;
  readonly sandbox: Sandbox;
  readonly vendors: readonly Vendor[];
  readonly network: NetworkPolicy;
  /** Limits of phases that only look, and of phases that change the world. */
  readonly limits: { readonly plan: Limits; readonly apply: Limits };
  readonly clock: Clock;
}

export interface WorkerOptions extends WorkerParts {
  readonly workspaces: Workspaces;
  readonly caches: Pick<Caches, 'distrust' | 'tend'>;
  /** How many assignments at once. */
  readonly slots: number;
  /** Between two signs of life; only tests are less patient than worker.ts. */
  readonly heartbeatMs?: number;
  /** False while nothing new may be begun, because the disk is too full. */
  readonly hasRoom: () => Promise<boolean>;
  readonly logger: Logger;
}

/** Everything the commands of one assignment share. `projectRoot` is found, `exports` grow as hooks pass. */
export interface RunContext extends Omit<WorkerParts, 'network'> {
  readonly network: RunNetwork;
  readonly assignment: Assignment;
  readonly vendor: Vendor;
  readonly workspace: Workspace;
  /** Grows with what the tool marks as secret in the plan. */
  readonly secrets: KnownSecrets;
  /** Aborts when the run ended under the worker, the lease was lost or the worker must stop. */
  readonly signal: AbortSignal;
  /** The worker stops. Unlike `signal` it tells so of work that is committed, too. */
  readonly draining: AbortSignal;
  projectRoot: string;
  /** Of all hooks so far, those of after_run included: one object for the whole assignment. */
  readonly exports: Record<string, string>;
  /** How far the assignment came. */
  readonly reached: { phase: Phase };
}

/** A phase as its commands know it. */
export interface PhaseContext {
  readonly phase: Phase;
  readonly half: RunHalf;
  readonly budget: PhaseBudget;
  readonly log: PhaseLog;
}

/** How a step of a run ended. `over`: the run ended or was taken away; say nothing more. */
export type StepResult = { readonly kind: 'ok' } | StepFailure | { readonly kind: 'over' };
export interface StepFailure {
  readonly kind: 'failed';
  readonly outcome: Outcome;
  /** What happened, then on a line of its own what a person can do. */
  readonly note: string;
  /** What Slipway offers to mend. */
  readonly trouble?: ToolTrouble;
  /** It was thrown, by ourselves or the server: nobody knows how far the command had come. */
  readonly isUnclear?: true;
}

export const ok = { kind: 'ok' } as const;
export const over = { kind: 'over' } as const;
export const failed = (outcome: Outcome, message: string, hint?: string): StepFailure => ({
  kind: 'failed',
  outcome,
  note: hint ? `${message}\n${hint}` : message,
});

const outcomeOf = {
  failed: 'tool_failed',
  unreadable: 'plan_unreadable',
  'plan-changed': 'plan_changed',
} as const satisfies Record<VendorFailure['kind'], Outcome>;

const outcomeOfTrouble = {
  'state-locked': 'state_locked',
  'pending-operations': 'pending_operations',
} as const satisfies Record<ToolTrouble['kind'], Outcome>;

export function vendorFailure({ kind, message, hint, trouble }: VendorFailure): StepFailure {
  if (!trouble) return failed(outcomeOf[kind], message, hint);
  return { ...failed(outcomeOfTrouble[trouble.kind], message, hint), trouble };
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Every command's environment, weakest first: defaults, people's, hooks', ours, the tool's. */
export function commandEnvironment(context: RunContext, phase: PhaseContext): Record<string, string> {
  const { frozen, run } = context.assignment;
  const visible = visibleVariables(frozen.variables, trustOfCommand(run, phase.half));
  const { PATH: exportedPath, ...exports } = context.exports;
  const { cache, inside } = context.workspace;
  return {
    LANG: 'C.UTF-8',
    ...(cache && cacheEnvironment(cache.inside, inside.home)),
    ...Object.fromEntries(visible.map(({ name, value }) => [name, value])),
    ...exports,
    // Whatever hooks put on PATH, `pulumi` stays the server's.
    PATH: [...context.vendor.toolPath(), exportedPath ?? systemPath].join(':'),
    HOME: inside.home,
    USER: 'runner',
    LOGNAME: 'runner',
    TERM: 'dumb',
    TMPDIR: inside.tmp,
    ...gitSafety,
    ...runMetadata(context, phase),
    ...context.vendor.baseEnvironment(vendorContext(context, '/output')),
  };
}

/** For every git that tools start in the checkout: no commands from a look-alike bare repository in it. */
const gitSafety = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  GIT_CONFIG_KEY_1: 'safe.directory',
  GIT_CONFIG_VALUE_1: '*',
  GIT_CONFIG_KEY_2: 'core.fsmonitor',
  GIT_CONFIG_VALUE_2: 'false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
};

/** Documented in docs/stacks.md. */
function runMetadata(context: RunContext, { phase }: PhaseContext): Record<string, string> {
  const { run, stack } = context.assignment;
  return {
    SLIPWAY: 'true',
    SLIPWAY_ACCOUNT: stack.account,
    SLIPWAY_STACK_ID: stack.id,
    SLIPWAY_REPOSITORY: stack.repository.fullName,
    SLIPWAY_RUN_ID: run.id,
    SLIPWAY_RUN_TYPE: run.type,
    SLIPWAY_PHASE: phase,
    SLIPWAY_BRANCH: run.branch,
    SLIPWAY_COMMIT_SHA: run.commit.hash,
    SLIPWAY_TRIGGERED_BY: run.triggeredBy,
    SLIPWAY_WORKSPACE_ROOT: context.workspace.inside.tree,
    SLIPWAY_PROJECT_ROOT: context.projectRoot,
  };
}

export function vendorContext(context: RunContext, output: string): VendorContext {
  const { workspace, sandbox } = context;
  return {
    settings: context.assignment.frozen.settings.vendor,
    paths: {
      checkout: workspace.inside.tree,
      projectRoot: context.projectRoot,
      home: workspace.inside.home,
      login: workspace.inside.login,
      output,
      cache: workspace.cache?.inside ?? null,
    },
    localStateDirectory: sandbox.kind === 'none' ? (workspace.localState?.host ?? null) : null,
  };
}
