import type { PullRequest } from '../stacks/pull-request.ts';
import type { Commit } from '../stacks/repository.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';

/**
 * What a run is and how its state may change: the tables of docs/runs.md as pure code. It knows no clock,
 * no database, no worker. Everything that changes a run's state asks `decide` first.
 */
export type RunType = 'PROPOSED' | 'TRACKED' | 'TASK' | 'DESTROY';

export const runStates = [
  'QUEUED',
  'READY',
  'PREPARING',
  'INITIALIZING',
  'PLANNING',
  'PENDING_REVIEW',
  'UNCONFIRMED',
  'CONFIRMED',
  'PREPARING_APPLY',
  'APPLYING',
  'DESTROYING',
  'PERFORMING',
  'FINISHED',
  'FAILED',
  'STOPPED',
  'DISCARDED',
  'CANCELED',
] as const;
export type RunState = (typeof runStates)[number];

/** Why a run ended as it did, where the state alone does not say it. */
export type Outcome =
  | 'tool_failed'
  | 'hook_failed'
  | 'policy_denied'
  | 'policy_failed'
  | 'approval_rejected'
  | 'timeout'
  | 'output_limit'
  | 'out_of_memory'
  | 'process_limit'
  | 'disk_limit'
  | 'tool_missing'
  | 'sandbox_unavailable'
  | 'source_unavailable'
  | 'project_unusable'
  | 'plan_unreadable'
  | 'plan_changed'
  | 'state_locked'
  | 'pending_operations'
  | 'worker_lost'
  | 'superseded'
  | 'pull_request_closed'
  | 'merge_group_destroyed'
  | 'backup_restored'
  | 'internal_error';

export interface Run {
  readonly id: string;
  readonly stackKey: string;
  readonly type: RunType;
  readonly state: RunState;
  /** 1 for the first QUEUED, then +1 with every change. */
  readonly stateVersion: number;
  readonly branch: string;
  readonly commit: Commit;
  /** The one that it previews, or that a comment asked for it below. */
  readonly pullRequest?: PullRequest;
  /** What it runs comes from a fork, or from a bot that is not trusted: it gets no secrets. Left out: false. */
  readonly isUntrusted?: boolean;
  readonly createdAtMs: number;
  /** E-mail address of a person, or the name of a token. */
  readonly triggeredBy: string;
  /** Who that is beyond doubt (access/actor.ts `actorKey`): a lock lets its holder's runs pass. */
  readonly startedBy: string;
  /** Present once a preview finished. */
  readonly delta?: Delta;
  /** Why it is in this state, for people. */
  readonly note?: string;
  readonly outcome?: Outcome;
  /** What it found the tool's state to be in, where that can be mended (mending.ts). */
  readonly trouble?: ToolTrouble;
  /** TASK only: the command for `bash -c`. */
  readonly command?: string;
  /** SHA-256 of the saved plan, in hex. */
  readonly planDigest?: string;
  /** The same for runs of different stacks that would change the same (plan-likeness.ts). */
  readonly planLikeness?: string;
  /** What approvals and overrides are given for (changes-digest.ts). Present once there is a plan. */
  readonly changesDigest?: string;
  /** How often its first half was started again after a worker was lost. */
  readonly restarts: number;
  /** True once a worker ever had it: there is a workspace to finish with. */
  readonly hadWorker: boolean;
  /** True once a push told of its commit again without making a run: the branch may have been elsewhere meanwhile. */
  readonly isRenewed: boolean;
  /** Higher goes first inside its class; 0 unless a person prioritised it. */
  readonly priority: number;
  /** Its log was removed for its age. */
  readonly logRemoved?: boolean;
}

/** The note of a run whose plan had nothing to do. */
export const nothingToChange = 'nothing to change';

export interface Delta {
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  readonly resources: number;
}

const terminal: ReadonlySet<RunState> = new Set(['FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED']);
export const isTerminal = (state: RunState): boolean => terminal.has(state);

/** TRACKED, TASK and DESTROY runs of a stack are serialised from READY to their end. */
export const isBlocking = (type: RunType): boolean => type !== 'PROPOSED';

/** What somebody wants with a run; named after who may ask: people, the scheduler, the worker, the server. */
export type RunCommand =
  | { readonly kind: 'make-ready' }
  | { readonly kind: 'claim' }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'initialized' }
  | ({ readonly kind: 'planned' } & PlanFacts)
  | { readonly kind: 'finish' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'lose-worker' }
  | { readonly kind: 'hand-back' }
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject' }
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'confirm' }
  | { readonly kind: 'discard' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'abandon' };

export interface PlanFacts {
  readonly hasChanges: boolean;
  readonly hasWarnings: boolean;
  readonly hasApprovalPolicies: boolean;
  readonly autodeploy: boolean;
  readonly stackLocked: boolean;
}

/** A lost worker restarts the first half of a run at most so often. */
export const maxRestarts = 2;

export type Decision =
  | { readonly kind: 'move'; readonly to: RunState; readonly locksStack: boolean }
  | { readonly kind: 'refused'; readonly state: RunState };

type RunFacts = Pick<Run, 'type' | 'state' | 'restarts'>;

/** The transition table. A refusal names the state that stands in the way and changes nothing. */
export function decide(run: RunFacts, command: RunCommand): Decision {
  const to = target(run, command);
  if (to === null) return { kind: 'refused', state: run.state };
  return { kind: 'move', to, locksStack: command.kind === 'lose-worker' && changesTheWorld.has(run.state) };
}

/** What people may ask of a run, the most wanted first; a run that is over can be retried besides. */
const commandsOfPeople = ['confirm', 'discard', 'cancel', 'stop'] as const;
type CommandOfPeople = (typeof commandsOfPeople)[number];

export function possibleCommands({ type, state }: Pick<Run, 'type' | 'state'>): readonly CommandOfPeople[] {
  return commandsOfPeople.filter((kind) => decide({ type, state, restarts: 0 }, { kind }).kind === 'move');
}

/** States in which the tool may have begun to change something: never executed a second time. */
export const changesTheWorld: ReadonlySet<RunState> = new Set([
  'PREPARING_APPLY',
  'APPLYING',
  'DESTROYING',
  'PERFORMING',
]);
const restartable: ReadonlySet<RunState> = new Set(['PREPARING', 'INITIALIZING', 'PLANNING']);

function target(run: RunFacts, command: RunCommand): RunState | null {
  const { state, type } = run;
  const from = (...states: RunState[]) => states.includes(state);
  switch (command.kind) {
    case 'make-ready':
      return from('QUEUED') ? 'READY' : null;
    case 'claim':
      if (from('READY')) return 'PREPARING';
      return from('CONFIRMED') ? 'PREPARING_APPLY' : null;
    case 'prepared':
      if (from('PREPARING')) return 'INITIALIZING';
      return from('PREPARING_APPLY') ? applyState(type) : null;
    case 'initialized':
      if (!from('INITIALIZING')) return null;
      return type === 'TASK' ? 'PERFORMING' : 'PLANNING';
    case 'planned':
      return from('PLANNING') ? afterPlan(type, command) : null;
    case 'finish':
      return from('APPLYING', 'DESTROYING', 'PERFORMING') ? 'FINISHED' : null;
    case 'fail':
      return restartable.has(state) || changesTheWorld.has(state) ? 'FAILED' : null;
    case 'lose-worker':
      if (changesTheWorld.has(state)) return 'FAILED';
      if (!restartable.has(state)) return null;
      return run.restarts < maxRestarts ? 'PREPARING' : 'FAILED';
    case 'hand-back':
      // A clean stop is no loss, so it is not counted and never the end of the run.
      return restartable.has(state) ? 'PREPARING' : null;
    case 'approve':
      return from('PENDING_REVIEW') ? 'FINISHED' : null;
    case 'reject':
      return from('QUEUED', 'PENDING_REVIEW', 'UNCONFIRMED') ? 'FAILED' : null;
    // What it previews is of no use any more: a newer push, or the pull request was closed.
    case 'withdraw':
      if (type !== 'PROPOSED') return null;
      if (from('QUEUED', 'READY')) return 'CANCELED';
      if (restartable.has(state)) return 'STOPPED';
      return from('PENDING_REVIEW') ? 'DISCARDED' : null;
    case 'confirm':
      return from('UNCONFIRMED') ? 'CONFIRMED' : null;
    case 'discard':
      return from('UNCONFIRMED', 'PENDING_REVIEW') ? 'DISCARDED' : null;
    case 'cancel':
      return from('QUEUED', 'READY') ? 'CANCELED' : null;
    case 'stop':
      return restartable.has(state) ? 'STOPPED' : null;
    // What the run became since is not known: it was restored from a backup.
    case 'abandon':
      if (from('QUEUED', 'READY')) return 'CANCELED';
      if (restartable.has(state)) return 'STOPPED';
      if (from('UNCONFIRMED', 'PENDING_REVIEW')) return 'DISCARDED';
      return from('CONFIRMED') ? 'FAILED' : null;
  }
}

function applyState(type: RunType): RunState | null {
  if (type === 'TRACKED') return 'APPLYING';
  return type === 'DESTROY' ? 'DESTROYING' : null;
}

function afterPlan(type: RunType, facts: PlanFacts): RunState | null {
  switch (type) {
    case 'PROPOSED':
      return facts.hasWarnings && facts.hasApprovalPolicies ? 'PENDING_REVIEW' : 'FINISHED';
    case 'TRACKED':
      if (!facts.hasChanges) return 'FINISHED';
      return facts.autodeploy && !facts.hasWarnings && !facts.stackLocked ? 'APPLYING' : 'UNCONFIRMED';
    case 'DESTROY':
      return facts.hasChanges ? 'UNCONFIRMED' : 'FINISHED';
    case 'TASK':
      return null;
  }
}
