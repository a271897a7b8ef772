import type { KeyObject } from 'node:crypto';
import { Pool } from 'undici';
import { type Clock, toUnixSeconds } from '../../clock.ts';
import { guardedConnector, withUsualAuthorities } from '../targets/connector.ts';
import { TargetBlocked, type TargetGuard } from '../targets/target-guard.ts';
import { type ExchangeLimits, type ExchangeResult, exchange, exchangeLimits } from './exchange.ts';
import { classify, type FailureKind } from './failure.ts';
import { parseRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signature.ts';

/**
 * One attempt: signs the bytes, posts them, and says what came of it. It follows no redirect, uses no proxy,
 * inflates nothing and knows neither queue nor database.
 */
export interface Sender extends AsyncDisposable {
  /** Rejects for bugs only. `signal` is for giving up at the end of the process. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
}

export interface OutgoingMessage {
  /** Normalised. */
  readonly url: string;
  readonly key: KeyObject | null;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly body: Uint8Array;
}

export type SendResult = { readonly durationMs: number } & (
  | { readonly kind: 'delivered'; readonly statusCode: number }
  | {
      readonly kind: 'failed';
      readonly error: FailureKind;
      readonly detail: string | null;
      readonly statusCode: number | null;
      readonly retryAfterMs: number | null;
      /** 410: the receiver wants no more. */
      readonly isGone: boolean;
    }
  /** The target was refused; no connection was made. */
  | { readonly kind: 'blocked'; readonly detail: string }
  | { readonly kind: 'aborted' }
);

/** Sockets are kept for this many origins; each pool closes its idle ones after seconds anyway. */
const maxPools = 512;

export function createSender(parts: {
  readonly guard: TargetGuard;
  readonly clock: Clock;
  /** Of Slipway, for the user agent. */
  readonly version: string;
  /** More certificate authorities, in PEM. */
  readonly caBundle: string | null;
  readonly limits?: ExchangeLimits;
}): Sender {
  const { guard, clock, limits = exchangeLimits } = parts;
  const authorities = withUsualAuthorities(parts.caBundle);
  const pools = new Map<string, Pool>();
  const closing = new Set<Promise<void>>();

  function poolOf(url: URL): Pool {
    const known = pools.get(url.origin);
    if (known) {
      pools.delete(url.origin);
      pools.set(url.origin, known);
      return known;
    }
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
    const pool = new Pool(url.origin, {
      connect: guardedConnector(guard, port, authorities),
      // How much is in flight is the pump's business; here nothing waits for a socket.
      connections: null,
      pipelining: 1,
      allowH2: false,
      keepAliveMaxTimeout: 30_000,
      // exchange() has timers of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pools.set(url.origin, pool);
    const [oldest] = pools;
    if (pools.size > maxPools && oldest) retire(...oldest);
    return pool;
  }

  /** Lets what is under way finish. */
  function retire(origin: string, pool: Pool): void {
    pools.delete(origin);
    const closed = pool.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  return {
    async send(message, signal) {
      const startedAt = performance.now();
      const result = await post(message, signal);
      return { ...judge(result, clock.nowMs()), durationMs: Math.round(performance.now() - startedAt) };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...Array.from(pools.values(), (pool) => pool.destroy()), ...closing]);
    },
  };

  function post(message: OutgoingMessage, signal: AbortSignal): Promise<ExchangeResult> {
    const url = new URL(message.url);
    const { body, deliveryId } = message;
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Slipway/${parts.version}`,
      // Compressed answers would only be a way to fill our memory.
      'accept-encoding': 'identity',
      'x-slipway-delivery': deliveryId,
      'x-slipway-attempt': String(message.attempt),
      ...signatureHeaders(message.key, { body, deliveryId, timestamp: toUnixSeconds(clock.nowMs()) }),
    };
    const request = { method: 'POST', path: url.pathname + url.search, headers, body };
    return exchange(poolOf(url), request, limits, signal);
  }
}

type Verdict<T = SendResult> = T extends unknown ? Omit<T, 'durationMs'> : never;

function judge(result: ExchangeResult, nowMs: number): Verdict {
  const failed = {
    kind: 'failed',
    detail: null,
    statusCode: null,
    retryAfterMs: null,
    isGone: false,
  } as const;
  switch (result.kind) {
    case 'aborted':
      return { kind: 'aborted' };
    case 'timeout':
      return { ...failed, error: 'timeout' };
    case 'error': {
      if (result.error instanceof TargetBlocked) return { kind: 'blocked', detail: result.error.message };
      const { kind, code } = classify(result.error);
      return { ...failed, error: kind, detail: code };
    }
    case 'response': {
      const { statusCode, headers } = result;
      if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered', statusCode };
      const retryAfter = headers['retry-after'];
      return {
        ...failed,
        error: 'status',
        statusCode,
        retryAfterMs: typeof retryAfter === 'string' ? parseRetryAfter(retryAfter, nowMs) : null,
        isGone: statusCode === 410,
      };
    }
  }
}
