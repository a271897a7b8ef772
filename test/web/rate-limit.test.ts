import { describe, expect, it, test } from 'vitest';
import { createRateLimit } from '../../src/web/rate-limit.ts';
import { fc } from '../support/fast-check.ts';
import { manualClock } from '../support/manual-clock.ts';
import { anInstallation, apiRequest } from './installation.ts';
import { openBrowser } from './ui/browser.ts';

describe('the limit of requests', () => {
  test('gives a minute at once, and back evenly', () => {
    const clock = manualClock();
    const limit = createRateLimit(60, clock);
    for (let left = 59; left >= 0; left -= 1) {
      expect(limit.take('a')).toMatchObject({ isAllowed: true, remaining: left, resetSeconds: 60 - left });
    }

    expect(limit.take('a')).toEqual({ isAllowed: false, limit: 60, remaining: 0, resetSeconds: 1 });
    expect(limit.take('b').isAllowed).toBe(true);
    clock.advance(999);
    expect(limit.take('a').isAllowed).toBe(false);
    clock.advance(1);
    expect([limit.take('a').isAllowed, limit.take('a').isAllowed]).toEqual([true, false]);
    clock.advance(60_000);
    expect(limit.take('a').remaining).toBe(59);
  });

  test('never lets more through than it says, in whatever rhythm', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 300 }),
        (perMinute, pauses) => {
          const clock = manualClock();
          const limit = createRateLimit(perMinute, clock);
          const startMs = clock.nowMs();
          let allowed = 0;
          for (const pause of pauses) {
            clock.advance(pause);
            const { isAllowed, remaining } = limit.take('a');
            if (isAllowed) allowed += 1;
            expect(remaining).toBeLessThan(perMinute);
          }
          const minutes = (clock.nowMs() - startMs) / 60_000;
          expect(allowed).toBeLessThanOrEqual(Math.floor(perMinute * (1 + minutes) + 0.001));
        },
      ),
    );
  });

  test('lets a patient one through who waits as long as it is told', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (perMinute) => {
        const clock = manualClock();
        const limit = createRateLimit(perMinute, clock);
        let taken = limit.take('a');
        for (let asked = 0; asked < perMinute && taken.isAllowed; asked += 1) taken = limit.take('a');
        expect(taken.isAllowed).toBe(false);
        clock.advance(taken.resetSeconds * 1000);
        expect(limit.take('a').isAllowed).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test('remembers so many and no more: who was quiet longest is forgotten', () => {
    const clock = manualClock();
    const limit = createRateLimit(2, clock, 2);
    for (const key of ['a', 'a', 'b', 'b']) limit.take(key);
    expect(limit.take('a').isAllowed).toBe(false);
    limit.take('c');
    expect(limit.take('a').isAllowed).toBe(false);
    expect(limit.take('b').isAllowed).toBe(true);
  });

  test('shuts nobody out for long when the clock is set back', () => {
    const clock = manualClock();
    const limit = createRateLimit(1, clock);
    limit.take('a');
    clock.advance(-3_600_000);
    expect(limit.take('a')).toMatchObject({ isAllowed: false, resetSeconds: 60 });
  });
});

describe('the API', () => {
  async function limited(perMinute: number) {
    const installation = anInstallation({ apiRateLimit: perMinute, clock: manualClock() });
    const token = await installation.token('reader');
    const get = (path = '/api/v1/stacks', as = token) =>
      installation.web.fetch(apiRequest('GET', path, { token: as }));
    return { installation, get };
  }

  it('refuses more than a minute of requests of a token, and says when to come back', async () => {
    const { installation, get } = await limited(2);
    await using _ = installation;
    const first = await get();
    await get();
    const third = await get();

    expect(Object.fromEntries(first.headers)).toMatchObject({
      ...{ 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '30' },
    });
    expect(third.status).toBe(429);
    expect(Object.fromEntries(third.headers)).toMatchObject({
      ...{ 'retry-after': '30', 'ratelimit-remaining': '0' },
    });
    expect(await third.json()).toMatchObject({ code: 'rate-limited', hint: 'Wait for 30 s.' });
    expect((await get('/api/v1/stacks', await installation.token('writer'))).status).toBe(200);
  });

  it('does not count the command line, health, metrics and GitHub', async () => {
    const { installation, get } = await limited(1);
    await using _ = installation;
    await get();

    const others = ['/healthz', '/readyz', '/metrics', '/api/v1/openapi.json'];
    for (const path of others) expect((await get(path)).status).toBe(200);
    const github = apiRequest('POST', '/api/github/webhooks', { body: {} });
    expect((await installation.web.fetch(github)).status).toBe(503);
    for (let asked = 0; asked < 3; asked += 1) {
      const request = apiRequest('GET', '/api/v1/stacks');
      expect((await installation.web.fetchAs({ kind: 'operator' }, request)).status).toBe(200);
    }
    expect((await get()).status).toBe(429);
  });

  it('counts a page once, and shows the refusal as a page', async () => {
    await using browser = openBrowser({ apiRateLimit: 2, clock: manualClock() });
    await browser.logIn();

    const answers = [await browser.visit('/'), await browser.visit('/'), await browser.visit('/')];

    expect(answers.map(({ answer }) => answer.status)).toEqual([200, 200, 429]);
    expect(answers[2]?.text).toContain('more than 2 requests in a minute');
  });
});
