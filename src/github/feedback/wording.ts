import { type Delta, nothingToChange, type Outcome, type Run } from '../../runs/run.ts';

/** What a check says about a run, in words. Pure, and fit for everybody who may see that there is a run. */
export interface Wording {
  /** Beside the name of the check, without a full stop. */
  readonly headline: string;
  /** Where the run stands and what happens next. */
  readonly sentence: string;
}

export function wordingOf(run: Run): Wording {
  switch (run.state) {
    case 'QUEUED':
      return say('Queued', 'The run waits for its turn on the stack.');
    case 'READY':
      return say('Waiting for a worker', 'The run starts as soon as a worker is free.');
    case 'PREPARING':
      return say('Preparing', 'The source is fetched and the sandbox is made.');
    case 'INITIALIZING':
      return say('Initializing', 'The tool is initialized.');
    case 'PLANNING':
      return say('Previewing', 'The tool works out what would change.');
    case 'PENDING_REVIEW':
      return say('Waiting for a review', 'The preview has warnings. Somebody has to look at them.');
    case 'UNCONFIRMED':
      return run.type === 'DESTROY'
        ? say('Waiting for confirmation', 'Nothing is destroyed until somebody confirms it on the run page.')
        : say('Waiting for confirmation', 'Nothing is applied until somebody confirms it.');
    case 'CONFIRMED':
      return say('Confirmed', 'The plan is confirmed and waits for a worker.');
    case 'PREPARING_APPLY':
      return say('Confirmed', 'The plan is confirmed and the sandbox is made again.');
    case 'APPLYING':
      return say('Applying', 'The changes are being made.');
    case 'DESTROYING':
      return say('Destroying', 'The resources of the stack are being destroyed.');
    case 'PERFORMING':
      return say('Running the task', 'The command of the task is running.');
    case 'FINISHED':
      return finished(run);
    case 'FAILED':
      return say('Failed', run.outcome ? outcomes[run.outcome] : 'The run failed.');
    case 'STOPPED':
      return say('Stopped', 'The run was stopped before anything was changed.');
    case 'DISCARDED':
      return say('Discarded', 'The plan was discarded. Nothing was changed.');
    case 'CANCELED':
      return say('Canceled', 'The run was canceled before it began.');
  }
}

const say = (headline: string, sentence: string): Wording => ({ headline, sentence });

/** Not by the delta: it counts resources, and outputs alone may have changed. */
function finished({ type, note }: Run): Wording {
  const isIdle = note === nothingToChange;
  switch (type) {
    case 'PROPOSED':
      return isIdle
        ? say('Nothing to change', 'The preview found nothing to change.')
        : say('Previewed', 'The preview is done. Nothing was changed.');
    case 'TRACKED':
      return isIdle
        ? say('Nothing to change', 'No resource had to change.')
        : say('Applied', 'The changes are made.');
    case 'DESTROY':
      return isIdle
        ? say('Nothing to destroy', 'The stack had no resources.')
        : say('Destroyed', 'The resources of the stack are gone.');
    case 'TASK':
      return say('Done', 'The task is done.');
  }
}

const outcomes: Record<Outcome, string> = {
  tool_failed: 'The tool reported a failure.',
  hook_failed: 'A hook failed.',
  policy_denied: 'A policy denied it.',
  policy_failed: 'A policy could not be evaluated.',
  approval_rejected: 'Approval policies have rejected it.',
  timeout: 'The run took longer than it may.',
  output_limit: 'The run wrote more output than it may.',
  out_of_memory: 'The run used more memory than it may.',
  process_limit: 'The run failed with as many processes as it may have.',
  disk_limit: 'The run met a limit on what it may write.',
  tool_missing: 'The tool is not installed on the server.',
  sandbox_unavailable: 'The server had no sandbox for it.',
  source_unavailable: 'The source could not be fetched.',
  project_unusable: 'The project cannot be used as it is.',
  plan_unreadable: 'The plan could not be read.',
  plan_changed: 'The plan that was confirmed no longer holds.',
  state_locked: 'Somebody else holds the lock of the state.',
  pending_operations: 'An apply that was cut off left the state half done.',
  superseded: 'A newer push made it needless.',
  pull_request_closed: 'Its pull request was closed.',
  merge_group_destroyed: 'Its merge group is gone.',
  backup_restored: 'The server was restored from a backup made before it ended.',
  worker_lost: 'The worker was lost. If it was changing something, check the real state.',
  internal_error: 'Slipway itself failed. The log of the server says more.',
};

/** "+3 ~2 -1" */
export const deltaSigns = ({ added, changed, deleted }: Delta): string => `+${added} ~${changed} -${deleted}`;

export function deltaWords({ added, changed, deleted, resources }: Delta): string {
  return `${added} added, ${changed} changed, ${deleted} deleted; ${resources} resources.`;
}
