import { describe, expect, it } from 'vitest';
import { replacedSecret, type Secrets } from '../../src/webhooks/secrets.ts';

const hourMs = 3_600_000;
const none: Secrets = { secret: null, oldSecrets: [] };
const replaced = (current: Secrets, secret: string | null, overlapHours: number, nowMs = 0) =>
  replacedSecret(current, secret, { overlapHours, nowMs });

describe('a secret that is replaced', () => {
  it('is used on for as long as the overlap', () => {
    expect(replaced({ secret: 'a', oldSecrets: [] }, 'b', 24, 5)).toEqual({
      secret: 'b',
      oldSecrets: [{ secret: 'a', untilMs: 5 + 24 * hourMs }],
    });
  });

  it('ends at once without an overlap, with all that were before it', () => {
    const overlapping = replaced({ secret: 'a', oldSecrets: [] }, 'b', 24);
    expect(replaced(overlapping, 'c', 0)).toEqual({ secret: 'c', oldSecrets: [] });
    expect(replaced(overlapping, null, 0)).toEqual(none);
  });

  it('leaves nothing old where there was none', () => {
    expect(replaced(none, 'a', 24)).toEqual({ secret: 'a', oldSecrets: [] });
  });

  it('stands before those that were replaced earlier, as long as they last', () => {
    const first = replaced({ secret: 'a', oldSecrets: [] }, 'b', 2);
    const second = replaced(first, 'c', 24, hourMs);
    expect(second.oldSecrets.map(({ secret }) => secret)).toEqual(['b', 'a']);
    const third = replaced(second, 'd', 24, 2 * hourMs);
    expect(third.oldSecrets.map(({ secret }) => secret)).toEqual(['c', 'b']);
  });

  it('is not old any more when it comes back, nor when it stays', () => {
    const there = replaced({ secret: 'a', oldSecrets: [] }, 'b', 24);
    expect(replaced(there, 'a', 24, 1)).toEqual({
      secret: 'a',
      oldSecrets: [{ secret: 'b', untilMs: 24 * hourMs + 1 }],
    });
    expect(replaced(there, 'b', 24, 1)).toEqual(there);
  });

  it('is one of five at most', () => {
    let secrets: Secrets = { secret: '0', oldSecrets: [] };
    for (let next = 1; next <= 8; next += 1) secrets = replaced(secrets, String(next), 168, next);
    expect(secrets.oldSecrets.map(({ secret }) => secret)).toEqual(['7', '6', '5', '4', '3']);
  });
});
