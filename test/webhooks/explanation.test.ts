import { describe, expect, it } from 'vitest';
import { attemptForReaders } from '../../src/webhooks/attempt-view.ts';
import type { Attempt } from '../../src/webhooks/delivery-store.ts';
import { explain } from '../../src/webhooks/explanation.ts';
import type { FailureKind } from '../../src/webhooks/sending/failure.ts';

function failed(change: Partial<Attempt>): Attempt {
  const result = { outcome: 'failed', statusCode: null, error: null, detail: null, exchange: null } as const;
  return { number: 1, startedAtMs: 0, durationMs: 1, ...result, ...change };
}

const withoutStatus: Readonly<Record<Exclude<FailureKind, 'status'>, RegExp>> = {
  timeout: /15 seconds/,
  dns: /spelling/,
  refused: /port/,
  reset: /logs/,
  unreachable: /firewalls/,
  tls: /CA_BUNDLE/,
  protocol: /https:/,
  network: /reached/,
  internal: /log of the server/,
};

describe('a failed attempt', () => {
  it.each(Object.entries(withoutStatus))('without an answer is explained: %s', (error, advice) => {
    expect(explain(failed({ error }))?.advice).toMatch(advice);
  });

  it.each([
    [301, /redirect/, /endpoint/],
    [400, /understand/, /answer/],
    [401, /signature/, /secret/],
    [403, /refused/, /secret/],
    [404, /path/, /path/],
    [410, /gone/, /replay/],
    [418, /accept/, /answer/],
    [429, /many/, /Retry-After/],
    [500, /inside/, /logs/],
    [503, /available/, /Retry-After/],
  ])('with status %i is explained', (statusCode, what, advice) => {
    const explanation = explain(failed({ error: 'status', statusCode }));
    expect(explanation?.what).toMatch(what);
    expect(explanation?.advice).toMatch(advice);
  });

  it('names the setting that opens a blocked target to administrators only', () => {
    const blocked = failed({ outcome: 'blocked', error: 'blocked', detail: '10.0.0.7 is private' });
    expect(explain(blocked)?.advice).toContain('WEBHOOK_ALLOWED_TARGETS');

    const seen = Object.keys(withoutStatus).map((error) => explain(attemptForReaders(failed({ error }))));
    expect(explain(attemptForReaders(blocked))).toEqual(seen[0]);
    expect(new Set(seen).size).toBe(1);
    expect(JSON.stringify(seen)).not.toContain('WEBHOOK_ALLOWED_TARGETS');
  });

  it('is told from one of which nothing is known, and from one that did not fail', () => {
    expect(explain(failed({ outcome: 'unknown' }))?.what).toMatch(/may or may not/);
    expect(explain(failed({ outcome: 'started' }))).toBeNull();
    expect(explain(failed({ outcome: 'delivered', statusCode: 204 }))).toBeNull();
  });
});
