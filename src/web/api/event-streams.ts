import { setTimeout as wait } from 'node:timers/promises';
import { refuse } from '../problem.ts';

/**
 * Answers that go on, as server-sent events. Each asks its source again and again: whoever writes may be another
 * process. One ends when its source does, when the server stops, when its reader may not read any more, and after a
 * while in any case: the reader comes back with Last-Event-ID, and is asked again who it is.
 */
export interface EventStreams {
  /** Null when too many are open, or too many of that reader. */
  open(source: EventStreamSource): ReadableStream<Uint8Array> | null;
  /** Ends all of them now. */
  endAll(): void;
}

export interface EventStreamSource {
  /** Whose it is: one reader must not take the place of all others. */
  readonly reader: string;
  /** The event after the one before; null when there is none yet. */
  next(): Promise<StreamEvent | null>;
  /** Whether its reader may (still) read it. Asked about once a minute. */
  isAllowed(): Promise<boolean>;
}

export interface StreamEvent {
  readonly event: string;
  /** What the reader sends as Last-Event-ID to go on after this one. */
  readonly id?: string;
  readonly data: unknown;
  /** Nothing follows. */
  readonly isLast: boolean;
}

export interface EventStreamLimits {
  readonly pollMs: number;
  readonly lifetimeMs: number;
  readonly maxOpen: number;
  readonly maxOpenOfOne: number;
  /** How often it is asked whether the reader may still read. */
  readonly askMs: number;
  /** A comment breaks a silence that long: proxies close a silent connection, some of them after 15 seconds. */
  readonly silenceMs: number;
}

const defaultLimits: EventStreamLimits = {
  pollMs: 500,
  lifetimeMs: 600_000,
  maxOpen: 400,
  maxOpenOfOne: 50,
  askMs: 60_000,
  silenceMs: 10_000,
};

const encoder = new TextEncoder();
/** Unbuffered, also by a proxy in front. */
const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

export function createEventStreams(limits: EventStreamLimits = defaultLimits): EventStreams {
  /** Whose each is. */
  const open = new Map<AbortController, string>();

  async function* lines(source: EventStreamSource, signal: AbortSignal): AsyncGenerator<string> {
    let quietMs = 0;
    // By the clock: a source that is never silent, or a reader that is slow, must not put the question off.
    let askedAt = performance.now();
    // Sent at once, so that the reader knows the stream is open; a reader that lost it waits a second.
    yield 'retry: 1000\n\n';
    while (!signal.aborted) {
      if (performance.now() >= askedAt + limits.askMs) {
        askedAt = performance.now();
        if (!(await source.isAllowed())) return;
      }
      const event = await source.next();
      if (event) {
        quietMs = 0;
        yield textOf(event);
        if (event.isLast) return;
        continue;
      }
      await wait(limits.pollMs, undefined, { signal });
      quietMs += limits.pollMs;
      if (quietMs >= limits.silenceMs) {
        quietMs = 0;
        yield ': still here\n\n';
      }
    }
  }

  return {
    open(source) {
      const ofReader = [...open.values()].filter((reader) => reader === source.reader).length;
      if (open.size >= limits.maxOpen || ofReader >= limits.maxOpenOfOne) return null;
      const ending = new AbortController();
      open.set(ending, source.reader);
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(limits.lifetimeMs)]);
      // Also for a reader that never reads.
      signal.addEventListener('abort', () => open.delete(ending));
      const iterator = lines(source, signal);
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
      for (const ending of open.keys()) ending.abort();
    },
  };
}

/** Refuses with `too-many-streams`. */
export function streamResponse(method: string, streams: EventStreams, source: EventStreamSource): Response {
  // Nobody would read the stream, nor end it.
  if (method === 'HEAD') return new Response(null, { headers });
  const stream = streams.open(source);
  if (stream === null) {
    refuse('too-many-streams', {
      detail: 'Too many runs are being followed at once.',
      hint: 'Read without the stream instead, or try again later.',
      headers: { 'retry-after': '10' },
    });
  }
  return new Response(stream, { headers });
}

function textOf({ event, id, data }: StreamEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
