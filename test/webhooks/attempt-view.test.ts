import { describe, expect, it } from 'vitest';
import { attemptForReaders } from '../../src/webhooks/attempt-view.ts';
import type { Attempt } from '../../src/webhooks/delivery-store.ts';
import type { FailureKind } from '../../src/webhooks/sending/failure.ts';

function anAttempt(change: Partial<Attempt>): Attempt {
  return {
    number: 1,
    startedAtMs: 1000,
    durationMs: 12,
    outcome: 'failed',
    statusCode: null,
    error: null,
    detail: null,
    exchange: null,
    ...change,
  };
}

const withoutAnswer: readonly Exclude<FailureKind, 'status'>[] = [
  'timeout',
  'dns',
  'refused',
  'reset',
  'unreachable',
  'tls',
  'protocol',
  'network',
  'internal',
];

describe('an attempt for readers', () => {
  it('is the same failure whenever there was no answer', () => {
    const attempts = [
      anAttempt({
        outcome: 'blocked',
        error: 'blocked',
        detail: 'the host is a metadata service',
        durationMs: 1,
      }),
      ...withoutAnswer.map((error, index) =>
        anAttempt({ error, detail: `E${index}`, durationMs: index * 1000 }),
      ),
    ];

    const seen = new Set(attempts.map((attempt) => JSON.stringify(attemptForReaders(attempt))));

    expect([...seen].map((text) => JSON.parse(text))).toEqual([
      anAttempt({ error: 'no-answer', durationMs: null }),
    ]);
  });

  it.each<Partial<Attempt>>([
    { outcome: 'delivered', statusCode: 204 },
    { outcome: 'failed', statusCode: 503, error: 'status' },
  ])('is whole when there was one: %j', (change) => {
    expect(attemptForReaders(anAttempt(change))).toEqual(anAttempt(change));
  });

  it.each([null, 204])('never tells what went over the wire (status %s)', (statusCode) => {
    const exchange = {
      key: null,
      request: { headers: { 'user-agent': 'Slipway/1' } },
      response: null,
      connection: { address: '10.0.0.7', port: 443, reused: false, tls: null },
      timingsMs: { dns: 1, connect: 2, tls: null, firstByte: null, total: 3 },
      resentAtOnce: false,
    };

    expect(attemptForReaders(anAttempt({ statusCode, exchange })).exchange).toBeNull();
  });

  it('says what is not known, but not for how long', () => {
    const unknown = anAttempt({ outcome: 'unknown', durationMs: 9000 });

    expect(attemptForReaders(unknown)).toEqual({ ...unknown, durationMs: null });
  });
});
