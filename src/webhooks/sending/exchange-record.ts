import { isUtf8 } from 'node:buffer';
import type { AttemptExchange, ExchangedConnection, ExchangedResponse } from '../delivery-store.ts';
import type { Exchange, ExchangeEnd, ResponseHeaders } from './exchange.ts';
import type { Connection } from './line.ts';
import type { Mask } from './mask.ts';

/** What the log keeps of an exchange. The headers must be free of secrets already; `mask` is for the answer. */
export function recordOf(
  exchange: Exchange,
  end: ExchangeEnd,
  sent: {
    readonly key: string | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly mask: Mask;
  },
  attempted: Connection | null,
): AttemptExchange {
  const { startedAt, firstByteAt, endedAt, isReused } = exchange;
  // One that failed to open is told too, if this exchange asked for it.
  const opened = exchange.connection ?? (attempted && attempted.startedAt >= startedAt ? attempted : null);
  return {
    key: sent.key,
    request: { headers: sent.headers },
    response: end.kind === 'response' ? responseOf(exchange, end.headers, sent.mask) : null,
    connection: opened && connectionOf(opened, isReused),
    timingsMs: {
      ...(opened === null || isReused ? nothingOpened : openingOf(opened)),
      firstByte: firstByteAt === null ? null : inTenths(firstByteAt - startedAt),
      total: inTenths(endedAt - startedAt),
    },
    resentAtOnce: exchange.resentAtOnce,
  };
}

const nothingOpened = { dns: null, connect: null, tls: null };

function openingOf(connection: Connection) {
  const { startedAt, resolvedAt, connectedAt, securedAt } = connection;
  const between = (from: number | null, to: number | null) =>
    from === null || to === null ? null : inTenths(to - from);
  return {
    dns: between(startedAt, resolvedAt),
    connect: between(resolvedAt ?? startedAt, connectedAt),
    tls: between(connectedAt, securedAt),
  };
}

function connectionOf({ address, port, tls }: Connection, reused: boolean): ExchangedConnection | null {
  return address === null || port === null ? null : { address, port, reused, tls };
}

function responseOf(exchange: Exchange, given: ResponseHeaders, mask: Mask): ExchangedResponse {
  const { bodyChunks, isBodyTruncated } = exchange;
  const headers = joined(given, mask);
  return {
    headers,
    ...textOf(bodyChunks, isBodyTruncated, mask),
    bodyTruncated: isBodyTruncated,
    location: headers['location'] ?? null,
  };
}

const noText: Pick<ExchangedResponse, 'body' | 'bodyEncoding'> = { body: '', bodyEncoding: 'utf8' };

function textOf(chunks: readonly Buffer[], isTruncated: boolean, mask: Mask): typeof noText {
  if (chunks.length === 0) return noText;
  const bytes = maskedBytes(Buffer.concat(chunks), mask);
  // The cut may go through a character.
  for (let cut = 0; cut <= (isTruncated ? 3 : 0); cut += 1) {
    const whole = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(whole)) return { body: whole.toString('utf8'), bodyEncoding: 'utf8' };
  }
  return { body: bytes.toString('base64'), bodyEncoding: 'base64' };
}

/** One character for each byte, whatever they are: what is hidden is ASCII. */
function maskedBytes(bytes: Buffer, mask: Mask): Buffer {
  return mask === null ? bytes : Buffer.from(mask(bytes.toString('latin1')), 'latin1');
}

function joined(headers: ResponseHeaders, mask: Mask): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    result[name] = mask === null ? text : mask(text);
  }
  return result;
}

const inTenths = (ms: number): number => Math.round(ms * 10) / 10;
