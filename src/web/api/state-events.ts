import { toUnixSeconds } from '../../clock.ts';
import { isTerminal, type Run } from '../../runs/run.ts';
import type { RunStore, StoredEvent } from '../../runs/run-store.ts';
import type { StreamEvent } from './event-streams.ts';

/** The state changes of a run after a version of it, as they happen, and an end when it is over. */
export function stateEvents(
  runs: Pick<RunStore, 'eventsAfter'>,
  run: Pick<Run, 'id' | 'state' | 'stateVersion'>,
  after: number,
): () => Promise<StreamEvent | null> {
  const waiting: StoredEvent[] = [];
  // A version that is still to come would hide those before it.
  let seen = Math.min(after, run.stateVersion);
  let state = run.state;
  return async () => {
    if (waiting.length === 0) waiting.push(...(await runs.eventsAfter(run.id, seen)));
    const change = waiting.shift();
    if (!change) return isTerminal(state) ? { event: 'end', data: { state }, isLast: true } : null;
    seen = change.stateVersion;
    state = change.state;
    return { event: 'state', id: String(seen), data: stateChangeObject(change), isLast: false };
  };
}

export function stateChangeObject({ timestampMs, note, ...event }: StoredEvent) {
  return { ...event, timestamp: toUnixSeconds(timestampMs), ...(note === null ? {} : { note }) };
}
