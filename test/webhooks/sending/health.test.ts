import { describe, expect, it } from 'vitest';
import type { WebhookHealth } from '../../../src/webhooks/delivery-store.ts';
import {
  type AfterFailure,
  afterFailure,
  afterSuccess,
  inFlightAtMost,
} from '../../../src/webhooks/sending/health.ts';
import { attemptDelaysMs } from '../../../src/webhooks/sending/schedule.ts';

const t0 = 1_795_000_000_000;
const hour = 3_600_000;

type Event = readonly [atHours: number, what: 'fail' | 'exhaust' | 'succeed'];

/** What comes of a history: the health at its end, when somebody was warned, and when it was given up. */
function live(events: readonly Event[]) {
  let health: WebhookHealth | null = null;
  const warnedAt: number[] = [];
  const lostAt: number[] = [];
  for (const [atHours, what] of events) {
    const atMs = t0 + atHours * hour;
    if (what === 'succeed') {
      health = health && afterSuccess(health, atMs);
      continue;
    }
    const isExhausted = what === 'exhaust';
    const after: AfterFailure = afterFailure(health, {
      atMs,
      isExhausted,
      error: 'timeout',
      pauseUntilMs: null,
    });
    health = after.health;
    if (after.isWarning) warnedAt.push(atHours);
    if (after.isLost) lostAt.push(atHours);
  }
  return { health, warnedAt, lostAt };
}

const failures = (...atHours: number[]): Event[] => atHours.map((at) => [at, 'fail']);

describe('the health of a webhook', () => {
  it('counts what fails in a row, and is nothing after a success', () => {
    const { health } = live(failures(0, 0.1, 0.2));
    expect(health).toEqual({
      failedAttempts: 3,
      failingSinceMs: t0,
      lastFailedAtMs: t0 + 0.2 * hour,
      exhausted: 0,
      warnings: 0,
      pausedUntilMs: null,
      lastError: 'timeout',
    });
    expect(live([...failures(0, 0.1, 0.2), [0.3, 'succeed']]).health).toBeNull();
  });

  it.each<[string, readonly Event[], readonly number[]]>([
    ['an hour, a day and two days', failures(0, 0.99, 1, 2, 23.9, 24, 30, 48, 60), [1, 24, 48]],
    ['once for what was passed in between', failures(0, 25, 26), [25]],
    ['again after a success', [...failures(0, 1), [2, 'succeed'], ...failures(3, 3.5, 4)], [1, 4]],
    ['not in the first hour', failures(...Array.from({ length: 50 }, (_, index) => index / 60)), []],
  ])('warns after %s', (_when, events, expected) => {
    expect(live(events).warnedAt).toEqual(expected);
  });

  describe('is lost', () => {
    /** Twelve failures within the hour, then what is said. */
    const dozen = failures(...Array.from({ length: 12 }, (_, index) => index / 12));

    it.each<[string, readonly Event[], readonly number[]]>([
      [
        'when nothing was delivered for 72 hours',
        [...dozen, [40, 'exhaust'], [71.9, 'fail'], [72, 'fail']],
        [72],
      ],
      ['not while it may still be an outage', [...dozen, [1, 'exhaust'], ...failures(30, 60, 71.9)], []],
      ['not while its first delivery is still tried', [...dozen, ...failures(40, 72, 100)], []],
      ['not for few attempts', [...failures(0, 20, 40), [60, 'exhaust'], ...failures(72, 80)], []],
      [
        'not when it worked in between',
        [...dozen, [40, 'exhaust'], [60, 'succeed'], ...failures(72, 73)],
        [],
      ],
      ['not when it was left alone for two days', [...dozen, [40, 'exhaust'], ...failures(89, 90)], []],
      [
        'not for failures now and then among successes',
        Array.from({ length: 400 }, (_, index): Event => [index, index % 3 === 0 ? 'exhaust' : 'succeed']),
        [],
      ],
    ])('%s', (_when, events, expected) => {
      expect(live(events).lostAt).toEqual(expected);
    });

    it('with the last attempt of the schedule, when that took so long', () => {
      let atHours = 0;
      const events = attemptDelaysMs.map((delayMs, index): Event => {
        atHours += (delayMs * 1.1) / hour;
        return [atHours, index === attemptDelaysMs.length - 1 ? 'exhaust' : 'fail'];
      });
      expect(live(events).lostAt).toEqual([atHours]);
    });
  });

  it('has one request in flight after five failures, and all of them after a success', () => {
    const at = (count: number) => live(failures(...Array.from({ length: count }, (_, i) => i / 60))).health;
    const allowed = [1, 4, 5, 6].map((count) => inFlightAtMost(at(count) ?? undefined, t0 + hour, 4));
    expect(allowed).toEqual([4, 4, 1, 1]);
    expect(inFlightAtMost(undefined, t0, 4)).toBe(4);
  });

  describe('while its receiver asked for a pause', () => {
    const pausedUntilMs = t0 + hour;
    const paused = (before: WebhookHealth | null, pauseUntilMs: number | null) =>
      afterFailure(before, { atMs: t0, isExhausted: false, error: 'status 429', pauseUntilMs }).health;

    it('has nothing in flight until then', () => {
      const health = paused(null, pausedUntilMs);
      expect(inFlightAtMost(health, pausedUntilMs - 1, 4)).toBe(0);
      expect(inFlightAtMost(health, pausedUntilMs, 4)).toBe(4);
    });

    it('keeps the longest of several', () => {
      const first = paused(null, pausedUntilMs);
      expect(paused(first, t0 + 1000).pausedUntilMs).toBe(pausedUntilMs);
      expect(paused(first, null).pausedUntilMs).toBe(pausedUntilMs);
      expect(paused(first, pausedUntilMs + 1).pausedUntilMs).toBe(pausedUntilMs + 1);
    });

    it('keeps it although what was on its way arrives, and counts anew', () => {
      const after = afterSuccess(paused(null, pausedUntilMs), t0 + 1);
      expect(after).toMatchObject({ pausedUntilMs, failedAttempts: 0 });
      expect(afterSuccess(after ?? paused(null, null), pausedUntilMs)).toBeNull();
      const failed = { atMs: t0 + 5, isExhausted: false, error: 'reset', pauseUntilMs: null };
      expect(afterFailure(after, failed).health).toMatchObject({ failedAttempts: 1, failingSinceMs: t0 + 5 });
    });
  });
});
