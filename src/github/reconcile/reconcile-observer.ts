import type { MissedOutcome } from '../../runs/missed-pushes.ts';

/** Told as things are found out and done; it only counts. */
export interface ReconcileObserver {
  /** A delivery of GitHub's: not in the inbox, asked for again, found there after all, not asked for any more. */
  delivery(outcome: DeliveryFinding): void;
  /** What became of a push that nobody told of, for one stack. */
  push(outcome: MissedOutcome): void;
}

export const deliveryFindings = ['lost', 'asked', 'arrived', 'given_up'] as const;
export type DeliveryFinding = (typeof deliveryFindings)[number];
