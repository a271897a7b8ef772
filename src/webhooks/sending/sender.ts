import { type Clock, toUnixSeconds } from '../../clock.ts';
import type { AttemptExchange } from '../delivery-store.ts';
import { withUsualAuthorities } from '../targets/connector.ts';
import { TargetBlocked, type TargetGuard } from '../targets/target-guard.ts';
import type { Webhook } from '../webhook.ts';
import { Exchange, type ExchangeEnd, type ExchangeLimits, exchangeLimits } from './exchange.ts';
import { recordOf } from './exchange-record.ts';
import { classify, type FailureKind } from './failure.ts';
import type { Line } from './line.ts';
import { parseRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signature.ts';
import { keyAfter, validKeys } from './signing-keys.ts';
import { createTargets, type Target } from './target.ts';

/**
 * One attempt: signs the bytes, posts them, and says what came of it. It follows no redirect, uses no proxy,
 * inflates nothing and knows neither queue nor database.
 */
export interface Sender extends AsyncDisposable {
  /** Rejects for bugs only. */
  send(message: OutgoingMessage): Promise<SendResult>;
  /** From now on nothing is begun: what is not on its way yet ends as `unsent`. */
  stop(): void;
  /** Ends what is on its way, too. */
  giveUp(): void;
}

export interface OutgoingMessage {
  readonly webhook: Webhook;
  readonly deliveryId: string;
  readonly attempt: number;
  /** How often its signature was refused: chooses the key. */
  readonly rejections: number;
  readonly body: Uint8Array;
  /** Of a policy that sends it instead of a state change: it says so itself, in a header. */
  readonly policyHeaders?: Readonly<Record<string, string>>;
  /** It says so itself, in a header. */
  readonly isTest?: boolean;
}

export type SendResult = { readonly durationMs: number; readonly exchange: AttemptExchange | null } & (
  | { readonly kind: 'delivered'; readonly statusCode: number }
  | {
      readonly kind: 'failed';
      readonly error: FailureKind;
      readonly detail: string | null;
      readonly statusCode: number | null;
      readonly retryAfterMs: number | null;
      /** Why the receiver wants no more, if it said so. */
      readonly wantsNoMore: string | null;
    }
  /** The target was refused; no connection was made. */
  | { readonly kind: 'blocked'; readonly detail: string }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unsent' }
);

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
  const targets = createTargets({ guard, authorities });
  const running = new Set<Exchange>();
  let isStopped = false;

  function headersFor(target: Target, message: OutgoingMessage) {
    const { body, deliveryId } = message;
    const nowMs = clock.nowMs();
    const valid = validKeys(target.keys, nowMs);
    const chosen = keyAfter(valid, message.rejections);
    const signed = { body, deliveryId, timestamp: toUnixSeconds(nowMs) };
    const keys = valid.flatMap(({ key }) => key ?? []);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'user-agent': `Slipway/${parts.version}`,
      // Compressed answers would only be a way to fill our memory.
      'accept-encoding': 'identity',
      'x-slipway-delivery': deliveryId,
      'x-slipway-attempt': String(message.attempt),
      ...(message.isTest && { 'x-slipway-test': 'true' }),
      ...(message.policyHeaders && { 'x-slipway-event': 'policy' }),
      ...signatureHeaders(chosen.key, signed, keys),
    };
    return { headers, key: chosen.fingerprint };
  }

  /** Calls back once, when the exchange is over. */
  function post(
    target: Target,
    line: Line,
    message: OutgoingMessage,
    onEnd: (end: ExchangeEnd, record: AttemptExchange) => void,
  ): void {
    const sent = headersFor(target, message);
    const custom = message.policyHeaders ? { ...target.headers, ...message.policyHeaders } : target.headers;
    const own = Object.keys(custom);
    const headers = own.length === 0 ? sent.headers : { ...custom, ...sent.headers };
    const request = { path: target.path, headers, body: message.body };
    const exchange = new Exchange(line, request, limits, (end) => {
      running.delete(exchange);
      if (exchange.isClean) target.giveBack(line);
      else target.drop(line);
      const shown = own.length === 0 ? headers : { ...masked(own), ...sent.headers };
      const { key } = sent;
      onEnd(end, recordOf(exchange, end, { key, headers: shown, mask: target.mask }, line.connection));
    });
    running.add(exchange);
    exchange.start();
  }

  return {
    send(message) {
      if (isStopped) return Promise.resolve({ kind: 'unsent', durationMs: 0, exchange: null });
      const startedAt = performance.now();
      return new Promise((resolve) => {
        const target = targets.of(message.webhook);
        post(target, target.take(), message, (end, exchange) => {
          const durationMs = Math.round(performance.now() - startedAt);
          resolve({ ...judge(end, clock.nowMs()), durationMs, exchange });
        });
      });
    },
    stop() {
      isStopped = true;
      for (const exchange of [...running]) exchange.stop();
    },
    giveUp() {
      isStopped = true;
      for (const exchange of [...running]) exchange.giveUp();
    },
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await targets.closeAll();
    },
  };
}

const masked = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '***']));

type Verdict<T = SendResult> = T extends unknown ? Omit<T, 'durationMs' | 'exchange'> : never;

function judge(end: ExchangeEnd, nowMs: number): Verdict {
  const failed = {
    kind: 'failed',
    detail: null,
    statusCode: null,
    retryAfterMs: null,
    wantsNoMore: null,
  } as const;
  switch (end.kind) {
    case 'aborted':
    case 'unsent':
      return { kind: end.kind };
    case 'timeout':
      return { ...failed, error: 'timeout' };
    case 'error': {
      if (end.error instanceof TargetBlocked) return { kind: 'blocked', detail: end.error.message };
      const { kind, code } = classify(end.error);
      return { ...failed, error: kind, detail: code };
    }
    case 'response': {
      const { statusCode, headers } = end;
      if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered', statusCode };
      const retryAfter = headers['retry-after'];
      return {
        ...failed,
        error: 'status',
        statusCode,
        retryAfterMs: typeof retryAfter === 'string' ? parseRetryAfter(retryAfter, nowMs) : null,
        wantsNoMore: goodbye(statusCode, headers['webhook-delivery']),
      };
    }
  }
}

/** 410, or the response header of Standard Webhooks that says the same. */
function goodbye(statusCode: number, wish: string | string[] | undefined): string | null {
  if (statusCode === 410) return 'The receiver answered 410 Gone.';
  return wish === 'disable' ? 'The receiver asked for no more deliveries.' : null;
}
