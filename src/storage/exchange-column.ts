import type { AttemptExchange, ExchangedConnection } from '../webhooks/delivery-store.ts';

/**
 * Exchanges as the text of a column. There is one for each attempt, and what a success has to tell is little: values
 * go by their place, and request headers that follow from the attempt are left out.
 */
type Column = readonly [
  key: string | null,
  requestHeaders: Readonly<Record<string, string>>,
  response:
    | readonly [headers: Readonly<Record<string, string>>, body: string, isBase64: 0 | 1, isTruncated: 0 | 1]
    | null,
  connection:
    | readonly [address: string, port: number, isReused: 0 | 1, tls: ExchangedConnection['tls']]
    | null,
  timings: readonly [
    dns: number | null,
    connect: number | null,
    tls: number | null,
    firstByte: number | null,
    total: number,
  ],
  resentAtOnce: 0 | 1,
];

interface AttemptKey {
  readonly deliveryId: string;
  readonly attempt: number;
}

export function encodeExchange(exchange: AttemptExchange, attempt: AttemptKey): string {
  const { key, request, response, connection, timingsMs } = exchange;
  const expected = expectedHeaders(attempt);
  const requestHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (expected[name] !== value) requestHeaders[name] = value;
  }
  const column: Column = [
    key,
    requestHeaders,
    response && [
      response.headers,
      response.body,
      flag(response.bodyEncoding === 'base64'),
      flag(response.bodyTruncated),
    ],
    connection && [connection.address, connection.port, flag(connection.reused), connection.tls],
    [timingsMs.dns, timingsMs.connect, timingsMs.tls, timingsMs.firstByte, timingsMs.total],
    flag(exchange.resentAtOnce),
  ];
  return JSON.stringify(column);
}

export function decodeExchange(text: string, attempt: AttemptKey): AttemptExchange {
  const [key, requestHeaders, response, connection, timings, resentAtOnce] = JSON.parse(text) as Column;
  const [dns, connect, tls, firstByte, total] = timings;
  return {
    key,
    request: { headers: { ...expectedHeaders(attempt), ...requestHeaders } },
    response: response ? responseOf(response) : null,
    connection: connection
      ? { address: connection[0], port: connection[1], reused: connection[2] === 1, tls: connection[3] }
      : null,
    timingsMs: { dns, connect, tls, firstByte, total },
    resentAtOnce: resentAtOnce === 1,
  };
}

function responseOf([headers, body, isBase64, isTruncated]: NonNullable<Column[2]>) {
  return {
    headers,
    body,
    bodyEncoding: isBase64 ? 'base64' : 'utf8',
    bodyTruncated: isTruncated === 1,
    location: headers['location'] ?? null,
  } as const;
}

function expectedHeaders({ deliveryId, attempt }: AttemptKey): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'x-slipway-delivery': deliveryId,
    'x-slipway-attempt': String(attempt),
    'webhook-id': deliveryId,
  };
}

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);
