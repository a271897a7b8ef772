import type { AttemptExchange } from '../../src/webhooks/delivery-store.ts';

export function anExchange(change: Partial<AttemptExchange> = {}): AttemptExchange {
  return {
    key: 'key:1f0c2b3a',
    request: { headers: { 'content-type': 'application/json', 'x-token': '***' } },
    response: {
      headers: { 'content-type': 'text/plain' },
      body: 'wrong signature',
      bodyEncoding: 'utf8',
      bodyTruncated: false,
      location: null,
    },
    connection: {
      address: '10.0.0.7',
      port: 443,
      reused: false,
      tls: { protocol: 'TLSv1.3', validTo: 1_796_000_000 },
    },
    timingsMs: { dns: 1.5, connect: 2, tls: 3, firstByte: 9.1, total: 9.4 },
    resentAtOnce: false,
    ...change,
  };
}
