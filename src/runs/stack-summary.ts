import type { Tx } from '../tx.ts';
import { type Delta, isBlocking, type RunState, type RunType } from './run.ts';
import type { Reactor } from './run-event.ts';

/**
 * What lists show of a stack: the blocking run that is under way, else the newest one. Previews say nothing about a
 * stack. It is kept beside the stack, so that a list of a thousand stacks asks nothing of a million runs.
 */
export interface StackSummary {
  readonly runId: string;
  readonly type: RunType;
  readonly state: RunState;
  /** When the run came into that state. */
  readonly sinceMs: number;
  readonly commit: {
    readonly hash: string;
    /** First line of the message. */
    readonly subject: string;
    readonly authorName: string;
  };
  readonly triggeredBy: string;
  readonly delta: Delta | null;
  /** Why it is in this state, for people. */
  readonly note: string | null;
  /** Blocking runs of the stack in QUEUED, `maxQueuedShown` at most. */
  readonly queued: number;
}

/** Counted further, a stack with thousands of waiting runs would slow down each of their changes. */
export const maxQueuedShown = 100;

export interface StackSummaries {
  /** Null: there is no blocking run. */
  summary(stackKey: string): Promise<StackSummary | null>;
  /** Makes it what the runs of the stack say, in the transaction that changed them. */
  refreshSummary(tx: Tx, stackKey: string): Promise<void>;
}

/** Groups of stacks, by what their state asks of people. Each stack is in one of them. */
export const buckets = [
  'attention',
  'failed',
  'in-progress',
  'on-hold',
  'stopped',
  'finished',
  'never-ran',
] as const;
export type Bucket = (typeof buckets)[number];

export function bucketOf(state: RunState | 'NONE'): Bucket {
  switch (state) {
    case 'UNCONFIRMED':
    case 'PENDING_REVIEW':
      return 'attention';
    case 'FAILED':
      return 'failed';
    // They wait for their turn or for a machine.
    case 'QUEUED':
    case 'READY':
    case 'CONFIRMED':
      return 'on-hold';
    case 'FINISHED':
      return 'finished';
    case 'STOPPED':
    case 'DISCARDED':
    case 'CANCELED':
      return 'stopped';
    case 'NONE':
      return 'never-ran';
    default:
      return 'in-progress';
  }
}

export function createSummaryReactor(summaries: Pick<StackSummaries, 'refreshSummary'>): Reactor {
  return async (tx, { run }) => {
    if (isBlocking(run.type)) await summaries.refreshSummary(tx, run.stackKey);
  };
}
