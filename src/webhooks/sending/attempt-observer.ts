import type { Clock } from '../../clock.ts';
import type { Finished } from '../delivery-store.ts';
import type { AttemptEnd } from './attempt.ts';

/** Hears of every attempt that ended. Must not throw, and is told of no address, id or text. */
export interface AttemptObserver {
  attemptEnded(attempt: EndedAttempt): void;
}

export interface EndedAttempt {
  readonly outcome: Finished['outcome'];
  readonly durationMs: number;
  /** From the state change to the beginning of the delivery's first attempt; null for later ones. */
  readonly lagMs: number | null;
  /** From the state change to the end of the attempt that delivered it; null otherwise, and for resends. */
  readonly endToEndMs: number | null;
  /** It was the last of the schedule. */
  readonly isExhausted: boolean;
}

export function observing(observer: AttemptObserver, clock: Clock): (end: AttemptEnd) => void {
  return (end) => {
    const ended = endedAttempt(end, clock.nowMs());
    if (ended !== null) observer.attemptEnded(ended);
  };
}

/** Null when nothing was sent. */
export function endedAttempt(end: AttemptEnd, endedAtMs: number): EndedAttempt | null {
  if (end.kind === 'unsent') return null;
  const { attempt, tries, createdAtMs } = end.claim;
  const { outcome, durationMs, status } = end.finished;
  // The system's clock may be set back in between.
  const sinceCreated = Math.max(0, endedAtMs - createdAtMs);
  return {
    outcome,
    durationMs,
    lagMs: attempt === 1 ? Math.max(0, sinceCreated - durationMs) : null,
    endToEndMs: outcome === 'delivered' && attempt === tries ? sinceCreated : null,
    isExhausted: status === 'exhausted',
  };
}
