import type { Dispatcher } from 'undici';
import { classify } from './failure.ts';
import type { Connection, Line } from './line.ts';

/** How long a receiver may take, and how much it may say. */
export interface ExchangeLimits {
  /** Names, connection, TLS and response headers together. */
  readonly deadlineMs: number;
  /** The body after that; it is read for the log, and so that the connection can be used again. */
  readonly bodyMs: number;
  readonly bodyBytes: number;
}

export const exchangeLimits: ExchangeLimits = { deadlineMs: 15_000, bodyMs: 2000, bodyBytes: 65_536 };

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type ExchangeEnd =
  | { readonly kind: 'response'; readonly statusCode: number; readonly headers: ResponseHeaders }
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'timeout' }
  /** Given up because the process ends: it may have arrived. */
  | { readonly kind: 'aborted' }
  /** Given up because the process ends, before a byte was written. */
  | { readonly kind: 'unsent' };

export interface ExchangeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * One request and its response, with limits that hold whatever the other side does. undici's own timers are
 * not enough: its body timeout is for silence, so that ten bytes a second pass it for ever, and neither
 * covers a run of 1xx responses or the connection.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly startedAt = performance.now();
  firstByteAt: number | null = null;
  endedAt: number = this.startedAt;
  /** The one it was written to. */
  connection: Connection | null = null;
  isReused = false;
  resentAtOnce = false;
  readonly bodyChunks: Buffer[] = [];
  isBodyTruncated = false;
  /** Nothing is left on the line: it can carry the next request. */
  isClean = false;

  readonly #line: Line;
  readonly #request: ExchangeRequest;
  readonly #limits: ExchangeLimits;
  readonly #onEnd: (end: ExchangeEnd) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #response: ExchangeEnd | null = null;
  #bodyBytes = 0;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(
    line: Line,
    request: ExchangeRequest,
    limits: ExchangeLimits,
    onEnd: (end: ExchangeEnd) => void,
  ) {
    this.#line = line;
    this.#request = request;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.#cut({ kind: 'timeout' }), limits.deadlineMs);
  }

  /** Once. */
  start(): void {
    const { path, headers, body } = this.#request;
    this.#line.client.dispatch({ method: 'POST', path, headers, body }, this);
  }

  /** Gives up unless something was written. */
  stop(): void {
    if (this.#controller === null) this.#cut({ kind: 'unsent' });
  }

  giveUp(): void {
    this.#cut({ kind: this.#controller === null ? 'unsent' : 'aborted' });
  }

  /** The connection stands, the request is written next. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while the connection was made: nothing is written.
    if (this.#isOver) {
      controller.abort(new Error('given up'));
      return;
    }
    this.#controller = controller;
    this.connection = this.#line.connection;
    if (this.connection === null) return;
    this.isReused = this.connection.requests > 0;
    this.connection.requests += 1;
  }

  onResponseStarted(): void {
    this.firstByteAt ??= performance.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ResponseHeaders,
  ): void {
    if (statusCode < 200 || this.#isOver) return;
    this.#response = { kind: 'response', statusCode, headers };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#cut({ kind: 'timeout' }), this.#limits.bodyMs);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    const room = this.#limits.bodyBytes - this.#bodyBytes;
    this.#bodyBytes += chunk.length;
    this.bodyChunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (this.#bodyBytes > this.#limits.bodyBytes) this.#cut({ kind: 'timeout' });
  }

  onResponseEnd(): void {
    this.isClean = this.#response !== null;
    this.#settle(this.#response ?? endedWithoutStatus());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    if (!this.#isStaleConnection(error)) {
      this.isBodyTruncated = true;
      this.#settle({ kind: 'error', error });
      return;
    }
    // The other side closed a connection that was kept, while the request was on its way: it was not read.
    this.resentAtOnce = true;
    this.#controller = null;
    this.connection = null;
    this.isReused = false;
    this.start();
  }

  #isStaleConnection(error: Error): boolean {
    return this.isReused && this.firstByteAt === null && classify(error).kind === 'reset';
  }

  #cut(end: ExchangeEnd): void {
    if (this.#isOver) return;
    this.isBodyTruncated = true;
    this.#settle(end);
    this.#controller?.abort(new Error('given up'));
  }

  /** Its status line settles a request: what happens to the body later is no failure. */
  #settle(end: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.endedAt = performance.now();
    clearTimeout(this.#timer);
    this.#onEnd(this.#response ?? end);
  }
}

function endedWithoutStatus(): ExchangeEnd {
  return { kind: 'error', error: new Error('ended without a status') };
}
