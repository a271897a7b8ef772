import { describe, expect, it } from 'vitest';
import { attemptDelaysMs, nextAttemptMs, parseRetryAfter } from '../../../src/webhooks/sending/schedule.ts';
import { fc } from '../../support/fast-check.ts';

const endedAtMs = 1_795_000_000_000;
const hour = 3_600_000;

function delay(tries: number, random = 0, retryAfterMs: number | null = null): number | null {
  const next = nextAttemptMs({ tries, endedAtMs, random, retryAfterMs });
  return next === null ? null : next - endedAtMs;
}

describe('the schedule', () => {
  it.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [4, 600_000],
    [5, 1_800_000],
    [6, hour],
    [7, 2 * hour],
    [8, 4 * hour],
    [9, 8 * hour],
    [10, 16 * hour],
    [11, 20 * hour],
    [12, 20 * hour],
  ])('after %i tries waits %i ms', (tries, expected) => {
    expect(delay(tries)).toBe(expected);
    expect(delay(tries, 0.5)).toBe(Math.ceil(expected * (1 + 0.2 * 0.5)));
  });

  it('has 13 attempts and then no more', () => {
    expect(attemptDelaysMs).toHaveLength(13);
    expect(delay(13)).toBeNull();
    expect(delay(14, 0, 5_000)).toBeNull();
  });

  it('takes about three days', () => {
    const total = attemptDelaysMs.reduce((sum, ms) => sum + ms, 0);
    expect(total / hour).toBeGreaterThan(70);
    expect(total / hour).toBeLessThan(73);
  });

  it.each([
    [1, 2_000, 5_000],
    [1, 60_000, 60_000],
    [12, 60_000, 20 * hour],
    [1, 48 * hour, 24 * hour],
  ])('after %i tries and Retry-After %i ms waits %i ms', (tries, retryAfterMs, expected) => {
    expect(delay(tries, 0, retryAfterMs)).toBe(expected);
  });

  it('is never early, and at most a fifth late', () => {
    const input = fc.record({
      tries: fc.integer({ min: 1, max: 12 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 100 * hour })),
    });
    fc.assert(
      fc.property(input, ({ tries, random, retryAfterMs }) => {
        const slot = attemptDelaysMs[tries] ?? 0;
        const asked = Math.min(retryAfterMs ?? 0, 24 * hour);
        const waited = delay(tries, random, retryAfterMs) ?? -1;
        expect(waited).toBeGreaterThanOrEqual(Math.max(slot, asked));
        expect(waited).toBeLessThanOrEqual(Math.max(Math.ceil(slot * 1.2), asked));
      }),
    );
  });
});

describe('Retry-After', () => {
  const nowMs = Date.parse('Sun, 06 Nov 1994 08:49:37 GMT');

  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['1000000000', 24 * hour],
    ['9'.repeat(400), 24 * hour],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
    ['Sun Nov  6 08:50:37 1994', 60_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['Sun, 06 Nov 2044 08:00:00 GMT', 24 * hour],
  ])('"%s" is %i ms', (value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });

  it.each(['', '-5', '1.5', '5s', 'soon', 'Tomorrow, at 5', 'Sunday, soon', 'January 5', '0x10', '1e3'])(
    '"%s" says nothing',
    (value) => {
      expect(parseRetryAfter(value, nowMs)).toBeNull();
    },
  );
});
