import { setTimeout as wait } from 'node:timers/promises';
import type { LogStore } from '../../runs/log-store.ts';
import { isTerminal, type RunState } from '../../runs/run.ts';
import { phases as allPhases, type Phase } from '../../runs/run-store.ts';
import { type LogPiece, type LogPosition, nextPiece } from './run-log.ts';

/**
 * A run's log as server-sent events. It polls the store: whoever writes may be another process. A stream ends
 * when the run is over and all is sent, when the server stops, and after a while in any case: the reader comes
 * back with Last-Event-ID, and is asked again who it is.
 */
export interface LogStreams {
  /** Null when too many are open. */
  open(source: LogSource): ReadableStream<Uint8Array> | null;
  /** Ends all of them now. */
  endAll(): void;
}

export interface LogSource {
  readonly runId: string;
  /** Null: all of them, in order. */
  readonly phase: Phase | null;
  readonly position: LogPosition;
  /** Null when the run is gone. */
  readonly state: () => Promise<RunState | null>;
}

export interface LogStreamLimits {
  readonly pollMs: number;
  readonly lifetimeMs: number;
  readonly maxOpen: number;
}

export const defaultLimits: LogStreamLimits = { pollMs: 500, lifetimeMs: 600_000, maxOpen: 200 };
/** Proxies close a connection that is silent for about a minute. */
const silenceMs = 15_000;

const encoder = new TextEncoder();

export function createLogStreams(logs: LogStore, limits: LogStreamLimits = defaultLimits): LogStreams {
  const open = new Set<AbortController>();

  async function* events(source: LogSource, signal: AbortSignal): AsyncGenerator<string> {
    const phases = source.phase === null ? allPhases : [source.phase];
    const position = phases.map((_, index) => source.position[index] ?? 0);
    let quietMs = 0;
    // Sent at once, so that the reader knows the stream is open.
    yield ': open\n\n';
    while (!signal.aborted) {
      // Before the logs: what was written before the run ended is then read in any case.
      const state = await source.state();
      const isOver = state === null || isTerminal(state);
      const piece = await nextPiece(logs, source.runId, phases, position, isOver);
      if (piece) {
        position[phases.indexOf(piece.phase)] = piece.offset + piece.bytes.byteLength;
        quietMs = 0;
        yield logEvent(piece, position);
      } else if (isOver) {
        yield `event: end\ndata: ${JSON.stringify({ state })}\n\n`;
        return;
      } else {
        await wait(limits.pollMs, undefined, { signal });
        quietMs += limits.pollMs;
        if (quietMs >= silenceMs) {
          quietMs = 0;
          yield ': still here\n\n';
        }
      }
    }
  }

  return {
    open(source) {
      if (open.size >= limits.maxOpen) return null;
      const ending = new AbortController();
      open.add(ending);
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(limits.lifetimeMs)]);
      // Also for a reader that never reads, e.g. the answer to HEAD.
      signal.addEventListener('abort', () => open.delete(ending));
      const iterator = events(source, signal);
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          const next = await iterator.next().catch((error: unknown) => {
            // The wait was ended: by a stop of the server or the lifetime, which both just end the stream.
            if (signal.aborted) return { done: true as const };
            open.delete(ending);
            throw error;
          });
          if (!next.done) return controller.enqueue(encoder.encode(next.value));
          open.delete(ending);
          controller.close();
        },
        cancel() {
          open.delete(ending);
          ending.abort();
        },
      });
    },
    endAll() {
      for (const ending of open) ending.abort();
    },
  };
}

function logEvent({ phase, offset, bytes }: LogPiece, position: LogPosition): string {
  const data = JSON.stringify({ phase, offset, text: new TextDecoder().decode(bytes) });
  return `id: ${encodePosition(position)}\nevent: log\ndata: ${data}\n\n`;
}

const encodePosition = (position: LogPosition): string => position.join('.');

/** What a reader sends as Last-Event-ID; null when it is not one of ours. */
export function decodePosition(id: string | undefined): LogPosition | null {
  if (id === undefined || id === '') return [];
  return /^\d{1,15}(\.\d{1,15}){0,5}$/.test(id) ? id.split('.').map(Number) : null;
}
