import type { Blocker } from '../blocker.ts';
import {
  changesTheWorld,
  type Delta,
  nothingToChange,
  type Outcome,
  type RunState,
  type RunType,
} from '../run.ts';

/** As much of a run as words are made of, as it is stored and as the API shows it. */
export interface ToldRun {
  readonly type: RunType;
  readonly state: RunState;
  readonly triggeredBy: string;
  readonly delta?: Delta | undefined;
  readonly note?: string | undefined;
  readonly outcome?: string | undefined;
  readonly blockedBy?: Pick<Blocker, 'kind'> | undefined;
}

/** What the sentence is made of. */
export interface RunStanding {
  readonly run: ToldRun;
  readonly autodeploy: boolean;
  /** Who brought it into this state: a person, a token, "worker" or "server". */
  readonly actor: string;
  /** The state before this one. */
  readonly cameFrom: RunState | null;
}

/** Where the run stands and what happens next, in a sentence or two. */
export function runSentence(standing: RunStanding): string {
  const { run, autodeploy, actor, cameFrom } = standing;
  const { type } = run;
  switch (run.state) {
    case 'QUEUED':
      if (run.blockedBy?.kind === 'approval') {
        return 'It starts by itself once the approval policies of the stack let it.';
      }
      return run.blockedBy
        ? 'It starts by itself as soon as nothing keeps it back.'
        : 'It is next in line and starts by itself.';
    case 'READY':
      return 'It starts by itself as soon as a worker is free.';
    case 'PREPARING':
      return `A worker fetches the source and makes the sandbox. ${firstHalf[type]}`;
    case 'INITIALIZING':
      return `The tool is set up and hooks run. ${firstHalf[type]}`;
    case 'PLANNING':
      return `The tool works out what would change. ${afterPlan(type, autodeploy)}`;
    case 'PENDING_REVIEW':
      return run.blockedBy?.kind === 'approval'
        ? 'Policies warn of the preview. It ends once people have approved or rejected it.'
        : 'The preview has warnings and ends once somebody has reviewed it.';
    case 'UNCONFIRMED':
      return unconfirmed(standing);
    case 'CONFIRMED':
      return `${actor} confirmed the plan. It goes on by itself as soon as a worker is free.`;
    case 'PREPARING_APPLY':
      return `A worker has taken the confirmed plan and makes ready.`;
    case 'APPLYING':
      return 'The plan is being applied. It is not interrupted any more.';
    case 'DESTROYING':
      return 'The resources of the stack are being destroyed. It is not interrupted any more.';
    case 'PERFORMING':
      return 'The command of the task runs. It is not interrupted any more.';
    case 'FINISHED':
      return finished(run);
    case 'FAILED':
      return failed(run, cameFrom);
    case 'STOPPED':
      return `${endedBy(run.outcome, actor, 'stopped it')} ${notDone[type]}`;
    case 'DISCARDED':
      return `${endedBy(run.outcome, actor, 'discarded it')} ${notDone[type]}`;
    case 'CANCELED':
      return `${endedBy(run.outcome, actor, 'canceled it')} It had not begun.`;
  }
}

function unconfirmed({ run, autodeploy }: RunStanding): string {
  const isDestroy = run.type === 'DESTROY';
  const what = isDestroy
    ? `The tear-down that ${run.triggeredBy} asked for`
    : `The plan of ${run.triggeredBy}`;
  const does = effect(run.delta, ['adds', 'changes', 'deletes']);
  const done = isDestroy ? 'destroyed' : 'applied';
  if (run.blockedBy?.kind === 'approval') {
    return `${what} ${does}. It has to be approved first; nothing is ${done} until somebody confirms it then.`;
  }
  // A note of a plan is what policies warn of.
  const isHeldBack = autodeploy && !isDestroy && run.note !== undefined;
  return `${what} ${does}. ${isHeldBack ? 'Policies warn of it: nothing' : 'Nothing'} is ${done} until somebody confirms it.`;
}

const firstHalf: Readonly<Record<RunType, string>> = {
  PROPOSED: 'The preview follows; nothing is changed by it.',
  TRACKED: 'The plan follows.',
  TASK: 'The command follows.',
  DESTROY: 'A preview of the tear-down follows.',
};

const notDone: Readonly<Record<RunType, string>> = {
  PROPOSED: 'Nothing was changed.',
  TRACKED: 'Nothing was applied.',
  TASK: 'The command did not run.',
  DESTROY: 'Nothing was destroyed.',
};

function afterPlan(type: RunType, autodeploy: boolean): string {
  switch (type) {
    case 'TRACKED':
      return autodeploy
        ? 'Changes are applied at once after that: the stack has autodeploy.'
        : 'Changes then wait until somebody confirms them.';
    case 'DESTROY':
      return 'Nothing is destroyed until somebody confirms it.';
    default:
      return 'Nothing is changed by that.';
  }
}

/** "adds 3 resources, changes 2 and deletes 1". */
function effect(delta: Delta | undefined, words: readonly [string, string, string]): string {
  const counts = [delta?.added ?? 0, delta?.changed ?? 0, delta?.deleted ?? 0];
  const parts = counts.flatMap((count, index) => (count > 0 ? [{ count, word: words[index] }] : []));
  const [first, ...rest] = parts;
  // Outputs, or how a resource is kept (protection, its parent).
  if (!first) return `${words[1]} no resource, only settings or outputs`;
  const said = [`${first.word} ${first.count} ${first.count === 1 ? 'resource' : 'resources'}`];
  for (const { word, count } of rest) said.push(`${word} ${count}`);
  return said.length < 2 ? said.join('') : `${said.slice(0, -1).join(', ')} and ${said.at(-1)}`;
}

function finished({ type, delta, note }: RunStanding['run']): string {
  const hadNothing = note === nothingToChange;
  switch (type) {
    case 'PROPOSED':
      return hadNothing
        ? 'There is nothing to change.'
        : `The preview is done: a deployment ${effect(delta, ['adds', 'changes', 'deletes'])}. Nothing was changed by it.`;
    case 'TRACKED':
      return hadNothing
        ? 'There was nothing to change.'
        : `The plan is applied. It ${effect(delta, ['added', 'changed', 'deleted'])}.`;
    case 'DESTROY':
      return hadNothing ? 'There was nothing to destroy.' : 'The resources of the stack are destroyed.';
    case 'TASK':
      return 'The command ended well.';
  }
}

const reasons: Readonly<Record<Outcome, string>> = {
  tool_failed: 'The tool failed',
  hook_failed: 'A hook failed',
  policy_denied: 'A policy denied it',
  policy_failed: 'A policy could not be evaluated',
  approval_rejected: 'Approval policies have rejected it',
  timeout: 'It took too long',
  output_limit: 'It wrote too much output',
  out_of_memory: 'It used more memory than it may',
  process_limit: 'It had as many processes as it may',
  disk_limit: 'It met a limit on what it may write',
  tool_missing: 'The tool is missing on the server, or cannot be used',
  sandbox_unavailable: 'The server had no sandbox for it',
  source_unavailable: 'The source could not be fetched',
  project_unusable: 'The project could not be used',
  plan_unreadable: 'The plan could not be read',
  plan_changed: 'The plan that was confirmed no longer holds',
  state_locked: 'The lock of the state is held by somebody else',
  pending_operations: 'The state has operations that were cut off',
  backup_restored: 'The server was restored from a backup made before it ended',
  worker_lost: 'The worker was lost',
  superseded: 'A newer push of the branch replaced it.',
  pull_request_closed: 'Its pull request was closed.',
  merge_group_destroyed: 'Its merge group is gone.',
  internal_error: 'Something went wrong in the server',
};
const reasonOf = (outcome: string | undefined): string | undefined =>
  (reasons as Readonly<Record<string, string>>)[outcome ?? ''];

const when: Partial<Readonly<Record<RunState, string>>> = {
  INITIALIZING: 'while the run was initialized',
  PLANNING: 'during the plan',
  APPLYING: 'while the plan was applied',
  DESTROYING: 'while resources were destroyed',
  PERFORMING: 'while the command of the task ran',
};

function failed({ type, outcome }: RunStanding['run'], cameFrom: RunState | null): string {
  const isCommand = type === 'TASK' && outcome === 'tool_failed' && cameFrom === 'PERFORMING';
  const reason = isCommand ? 'The command failed' : (reasonOf(outcome) ?? 'It failed');
  const next = nextSteps[outcome ?? ''];
  if (next !== undefined) return `${reason}: ${notDone[type].toLowerCase()} ${next}`;
  const isAlways = isCommand || ofTheState.has(outcome ?? '') || outcome === 'plan_changed';
  const during = (cameFrom && !isAlways && when[cameFrom]) ?? '';
  return `${reason}${during ? ` ${during}` : ''}. ${aftermath(type, outcome, cameFrom)}`;
}

/** They are found before anything is done, and were there before the run. */
const ofTheState: ReadonlySet<string> = new Set<Outcome>(['state_locked', 'pending_operations']);

/** What people can do about what policies said. */
const nextSteps: Readonly<Record<string, string>> = {
  policy_denied:
    'Change what it is about, or have an administrator of the stack let exactly these changes pass: under Policies.',
  approval_rejected: 'Policies says by whom; run it again to have it reviewed anew.',
  policy_failed:
    'Policies says which line it is: mend the policy or detach it from the stack, then run it again.',
};

function aftermath(type: RunType, outcome: string | undefined, cameFrom: RunState | null): string {
  if (!cameFrom || !changesTheWorld.has(cameFrom)) return notDone[type];
  if (outcome === 'worker_lost') {
    return 'Some of it may be done: check the real state, then unlock the stack.';
  }
  if (cameFrom === 'PREPARING_APPLY') return notDone[type];
  if (ofTheState.has(outcome ?? '') && type !== 'TASK') return notDone[type];
  // Terraform refuses before it begins, Pulumi where it comes to what is new; the note says which.
  if (outcome === 'plan_changed') return 'What was done before that was noticed, if anything, stays done.';
  return 'What it did until then stays done: check the real state before the next run.';
}

const endedBy = (outcome: string | undefined, actor: string, did: string): string =>
  reasonOf(outcome) ?? `${actor} ${did}.`;
