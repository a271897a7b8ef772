import { trustReason, variablesInWords } from '../../runs/explaining/trust-words.ts';
import type { RunState, RunType } from '../../runs/run.ts';
import type { RunEvent } from '../../runs/run-event.ts';
import { type Trust, trustOfRun } from '../../runs/trust.ts';
import { type Stack, showsDetails } from '../../stacks/stack.ts';
import { buttonsOf, type CheckAction } from './check-buttons.ts';
import { laneOf, type WantedItem } from './outbox-store.ts';
import { quoted } from './quoted.ts';
import { deltaSigns, deltaWords, wordingOf } from './wording.ts';

/** The body of GitHub's check run requests, whole: what is left out of an update would stay as it was. */
export interface CheckRunBody {
  readonly name: string;
  readonly head_sha: string;
  /**
   * The run's id; `file:...`, `offer:...`, `unaffected:...` or `aggregate:...` of checks that are of no run. A check run whose
   * creation we did not hear of is found again by it.
   */
  readonly external_id: string;
  readonly details_url: string;
  readonly status: 'queued' | 'in_progress' | 'completed';
  readonly conclusion?: 'success' | 'failure' | 'neutral' | 'cancelled' | 'action_required';
  readonly started_at: string;
  readonly completed_at?: string;
  readonly output: {
    readonly title: string;
    readonly summary: string;
    /** Below the summary: the plan. */
    readonly text?: string;
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
  return checkItem(desired.external_id, desired, of);
}

export function checkItem(
  id: string,
  desired: unknown,
  of: Pick<WantedItem, 'repositoryId' | 'runId' | 'slot'>,
): WantedItem {
  return { ...of, id, kind: 'check_run', lane: laneOf(of.repositoryId, 'check_run'), desired };
}

export const checkNameOf = ({ id }: Pick<Stack, 'id'>, type: RunType): string =>
  `slipway/${id}${type === 'PROPOSED' ? ' (preview)' : ''}`;

/** "2026-11-21 10:00:05 UTC" */
export const timeOf = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').replace(/\..*/, ' UTC');

/** What GitHub shall show of a run after a change of its state. Pure. */
export function checkRunOf(event: RunEvent, settings: CheckRunSettings): CheckRunBody {
  const { run, stack } = event;
  const detailsUrl = `${settings.publicUrl}/runs/${run.id}`;
  const { headline } = wordingOf(run);
  return {
    name: checkNameOf(stack, run.type),
    head_sha: run.commit.hash,
    external_id: run.id,
    details_url: detailsUrl,
    ...phaseOf(run.state, event.timestampMs),
    started_at: new Date(run.createdAtMs).toISOString(),
    output: {
      title: run.delta ? `${headline}: ${deltaSigns(run.delta)}` : headline,
      summary: summaryOf(event, detailsUrl, settings.isSandboxed),
    },
    actions: buttonsOf(run, stack),
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

function summaryOf(event: RunEvent, detailsUrl: string, isSandboxed: boolean): string {
  const { run, stack, note, timestampMs } = event;
  const isOnTheWay = phaseOf(run.state, timestampMs).status !== 'completed';
  const parts = [
    `${wordingOf(run).sentence}${isOnTheWay ? ` Since ${timeOf(timestampMs)}.` : ''}`,
    run.delta && deltaWords(run.delta),
    showsDetails(stack) && note !== null && note !== '' && quoted(note),
    trustLine(trustOfRun(run)),
    !isSandboxed && '**This server runs the tools without a sandbox.**',
    `[Open the run](${detailsUrl})`,
  ];
  return parts.filter((part) => typeof part === 'string').join('\n\n');
}

function trustLine(trust: Trust): string {
  const seen = variablesInWords(trust, (access) => `\`${access}\``);
  return trust === 'untrusted' ? `Untrusted: ${trustReason(trust)}. ${seen}` : seen;
}
