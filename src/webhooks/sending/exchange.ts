import type { Dispatcher } from 'undici';

/** How long a receiver may take, and how much it may say. */
export interface ExchangeLimits {
  /** Names, connection, TLS and response headers together. */
  readonly deadlineMs: number;
  /** The body after that; it is read only so that the connection can be used again. */
  readonly bodyMs: number;
  readonly bodyBytes: number;
}

export const exchangeLimits: ExchangeLimits = { deadlineMs: 15_000, bodyMs: 2000, bodyBytes: 65_536 };

export type ExchangeResult =
  | {
      readonly kind: 'response';
      readonly statusCode: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    }
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'timeout' }
  /** The signal fired: the request may have arrived. */
  | { readonly kind: 'aborted' };

/**
 * One request and its response, with limits that hold whatever the other side does. undici's own timers are
 * not enough: its body timeout is for silence, so that ten bytes a second pass it for ever, and neither
 * covers a run of 1xx responses or the connection.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
  signal: AbortSignal,
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | null = null;
    let response: ExchangeResult | null = null;
    let bodyBytes = 0;
    let isOver = false;
    let timer = setTimeout(() => cut({ kind: 'timeout' }), limits.deadlineMs);
    const onAbort = () => cut({ kind: 'aborted' });
    signal.addEventListener('abort', onAbort, { once: true });

    /** Its status line settles a request: what happens to the body later is no failure. */
    function settle(result: ExchangeResult): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(response ?? result);
    }

    function cut(result: ExchangeResult): void {
      settle(result);
      controller?.abort(new Error('given up'));
    }

    if (signal.aborted) {
      cut({ kind: 'aborted' });
      return;
    }
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        // Given up while the connection was made: nothing is written.
        if (isOver) started.abort(new Error('given up'));
      },
      onResponseStart(_controller, statusCode, headers) {
        if (statusCode < 200 || isOver) return;
        response = { kind: 'response', statusCode, headers };
        clearTimeout(timer);
        timer = setTimeout(() => cut({ kind: 'timeout' }), limits.bodyMs);
      },
      onResponseData(_controller, chunk) {
        bodyBytes += chunk.length;
        if (bodyBytes > limits.bodyBytes) cut({ kind: 'timeout' });
      },
      onResponseEnd: () => settle({ kind: 'error', error: new Error('ended without a status') }),
      onResponseError: (_controller, error) => settle({ kind: 'error', error }),
    });
  });
}
