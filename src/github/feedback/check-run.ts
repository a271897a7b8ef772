import type { Button } from '../../runs/buttons.ts';
import { isTerminal, type Run, type RunState } from '../../runs/run.ts';
import type { RunEvent } from '../../runs/run-event.ts';
import { showsDetails } from '../../stacks/stack.ts';
import { laneOf, type WantedItem } from './outbox-store.ts';
import { quoted } from './quoted.ts';
import { deltaSigns, deltaWords, wordingOf } from './wording.ts';

/** The body of GitHub's check run requests, whole: what is left out of an update would stay as it was. */
export interface CheckRunBody {
  readonly name: string;
  readonly head_sha: string;
  /**
   * The run's id, `file:<id>` of the check of a repository file, or `offer:<stack key>:<hash>`: a check run whose
   * creation we did not hear of is found again by it.
   */
  readonly external_id: string;
  readonly details_url: string;
  readonly status: 'queued' | 'in_progress' | 'completed';
  readonly conclusion?: 'success' | 'failure' | 'cancelled' | 'action_required' | 'neutral';
  readonly started_at: string;
  readonly completed_at?: string;
  readonly output: {
    readonly title: string;
    readonly summary: string;
    /** At most 50. GitHub adds those of each request to the ones before: they are sent with the first only. */
    readonly annotations?: readonly Annotation[];
  };
  /** Empty takes the buttons of the state before away. */
  readonly actions: readonly CheckAction[];
}

interface Annotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_column: number;
  readonly end_column: number;
  readonly annotation_level: 'failure';
  readonly message: string;
}

interface CheckAction {
  /** At most 20 characters, like `identifier`; `description` at most 40. */
  readonly label: string;
  readonly description: string;
  /** Typed, so that none is shown for which nothing is done. */
  readonly identifier: Button | 'deploy';
}

export interface CheckRunSettings {
  readonly publicUrl: string;
  /** False with SANDBOX=none, which must be shown wherever a run is shown. */
  readonly isSandboxed: boolean;
}

/** The item of a check run: GitHub knows it by the item's id. */
export function checkRunItem(
  desired: CheckRunBody,
  of: Pick<WantedItem, 'repositoryId' | 'runId' | 'slot'>,
): WantedItem {
  const { repositoryId } = of;
  return {
    ...of,
    id: desired.external_id,
    kind: 'check_run',
    lane: laneOf(repositoryId, 'check_run'),
    desired,
  };
}

/** What GitHub shall show of a run after a change of its state. Pure. */
export function checkRunOf(event: RunEvent, settings: CheckRunSettings): CheckRunBody {
  const { run, stack } = event;
  const detailsUrl = `${settings.publicUrl}/runs/${run.id}`;
  const { headline } = wordingOf(run);
  return {
    name: `slipway/${stack.id}${run.type === 'PROPOSED' ? ' (preview)' : ''}`,
    head_sha: run.commit.hash,
    external_id: run.id,
    details_url: detailsUrl,
    ...phaseOf(run.state, event.timestampMs),
    started_at: new Date(run.createdAtMs).toISOString(),
    output: {
      title: run.delta ? `${headline}: ${deltaSigns(run.delta)}` : headline,
      summary: summaryOf(event, detailsUrl, settings.isSandboxed),
    },
    actions: actionsOf(run),
  };
}

type Phase = Pick<CheckRunBody, 'status' | 'conclusion' | 'completed_at'>;

function phaseOf(state: RunState, timestampMs: number): Phase {
  const completed = (conclusion: NonNullable<CheckRunBody['conclusion']>): Phase => ({
    status: 'completed',
    conclusion,
    completed_at: new Date(timestampMs).toISOString(),
  });
  switch (state) {
    case 'QUEUED':
    case 'READY':
      return { status: 'queued' };
    // GitHub shows buttons of these with a call to act, and a required check stays unfulfilled.
    case 'UNCONFIRMED':
    case 'PENDING_REVIEW':
      return completed('action_required');
    case 'FINISHED':
      return completed('success');
    case 'FAILED':
      return completed('failure');
    case 'STOPPED':
    case 'DISCARDED':
    case 'CANCELED':
      return completed('cancelled');
    default:
      return { status: 'in_progress' };
  }
}

const confirm = action('confirm', 'Confirm and apply', 'Makes the changes of this preview');
const discard = action('discard', 'Discard plan', 'Nothing is changed');
const cancel = action('cancel', 'Cancel run', 'It has not begun yet');
const stop = action('stop', 'Stop run', 'Nothing has been changed yet');
const retry = action('retry', 'Retry run', 'A new run of the same commit');

function action(identifier: Button, label: string, description: string): CheckAction {
  return { label, description, identifier };
}

function actionsOf({ state, type }: Run): readonly CheckAction[] {
  switch (state) {
    case 'QUEUED':
    case 'READY':
      return [cancel];
    case 'PREPARING':
    case 'INITIALIZING':
    case 'PLANNING':
      return [stop];
    case 'UNCONFIRMED':
      // A tear-down is confirmed with the name of its stack, which a button cannot ask for.
      return type === 'DESTROY' ? [discard] : [confirm, discard];
    case 'PENDING_REVIEW':
      return [discard];
    default:
      return isTerminal(state) && state !== 'FINISHED' ? [retry] : [];
  }
}

function summaryOf({ run, stack, note }: RunEvent, detailsUrl: string, isSandboxed: boolean): string {
  const parts = [
    wordingOf(run).sentence,
    run.delta && deltaWords(run.delta),
    showsDetails(stack) && note !== null && note !== '' && quoted(note),
    run.isUntrusted && withoutSecrets,
    !isSandboxed && '**This server runs the tools without a sandbox.**',
    `[Open the run](${detailsUrl})`,
  ];
  return parts.filter((part) => typeof part === 'string').join('\n\n');
}

const withoutSecrets =
  'This run has to do without secrets: it comes from a fork, or from a bot that is not trusted.';
