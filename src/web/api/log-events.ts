import type { LogStore } from '../../runs/log-store.ts';
import { isTerminal, type RunState } from '../../runs/run.ts';
import { phases as allPhases, type Phase } from '../../runs/run-store.ts';
import type { StreamEvent } from './event-streams.ts';
import { type LogPosition, nextPiece } from './run-log.ts';

export interface LogSource {
  readonly runId: string;
  /** Null: all of them, in order. */
  readonly phase: Phase | null;
  readonly position: LogPosition;
  /** Null when the run is gone. */
  readonly state: () => Promise<RunState | null>;
}

/** A run's log, piece by piece as it is written, and an end when the run is over and all was given out. */
export function logEvents(logs: LogStore, source: LogSource): () => Promise<StreamEvent | null> {
  const phases = source.phase === null ? allPhases : [source.phase];
  const position = phases.map((_, index) => source.position[index] ?? 0);
  return async () => {
    // Before the logs: what was written before the run ended is then read in any case.
    const state = await source.state();
    const isOver = state === null || isTerminal(state);
    const piece = await nextPiece(logs, source.runId, phases, position, isOver);
    if (!piece) return isOver ? { event: 'end', data: { state }, isLast: true } : null;
    const { phase, offset, bytes } = piece;
    position[phases.indexOf(phase)] = offset + bytes.byteLength;
    const data = { phase, offset, text: new TextDecoder().decode(bytes) };
    return { event: 'log', id: encodePosition(position), data, isLast: false };
  };
}

export const encodePosition = (position: LogPosition): string => position.join('.');

/** What a reader sends as Last-Event-ID; null when it is not one of ours. */
export function decodePosition(id: string | undefined): LogPosition | null {
  if (id === undefined || id === '') return [];
  return /^\d{1,15}(\.\d{1,15}){0,5}$/.test(id) ? id.split('.').map(Number) : null;
}
