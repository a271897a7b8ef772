import { describe, expect, it } from 'vitest';
import type { AttemptEnd } from '../../../src/webhooks/sending/attempt.ts';
import { type EndedAttempt, endedAttempt } from '../../../src/webhooks/sending/attempt-observer.ts';
import { startOutgoing } from '../outgoing.ts';
import { eventually, startReceiver } from '../receiver.ts';

const claim = {
  deliveryId: 'd',
  webhookId: 'w',
  webhookVersion: 1,
  runId: 'r',
  stateVersion: 1,
  attempt: 1,
  tries: 1,
  rejections: 0,
  startedAtMs: 10_020,
  createdAtMs: 10_000,
  body: null,
};
const finished = {
  deliveryId: 'd',
  attempt: 1,
  outcome: 'delivered',
  statusCode: 204,
  error: null,
  detail: null,
  startedAtMs: 10_020,
  durationMs: 30,
  status: 'delivered',
  nextAttemptAtMs: null,
  exchange: null,
  rejections: 0,
} as const;
const meaning = { isTelling: true, pauseUntilMs: null, disable: null };
const end = { kind: 'finished', claim, finished, ...meaning } as const satisfies AttemptEnd;

describe('what is told of an attempt', () => {
  it('is how long it waited, took, and both', () => {
    expect(endedAttempt(end, 10_050)).toEqual({
      outcome: 'delivered',
      durationMs: 30,
      lagMs: 20,
      endToEndMs: 50,
      isExhausted: false,
    });
  });

  it('is no lag for later attempts, and no way for resends', () => {
    const second = { ...end, claim: { ...claim, attempt: 2, tries: 2 } };
    const resent = { ...end, claim: { ...claim, attempt: 2, tries: 1 } };

    expect(endedAttempt(second, 15_000)).toMatchObject({ lagMs: null, endToEndMs: 5000 });
    expect(endedAttempt(resent, 15_000)).toMatchObject({ lagMs: null, endToEndMs: null });
  });

  it('is never negative, whatever the clock of the system did', () => {
    expect(endedAttempt(end, 9000)).toMatchObject({ lagMs: 0, endToEndMs: 0 });
  });

  it('is nothing when nothing was sent', () => {
    expect(endedAttempt({ kind: 'unsent', claim }, 10_050)).toBeNull();
  });

  it('is heard once for each attempt that the pump makes', async () => {
    const seen: EndedAttempt[] = [];
    await using receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 500 : 204));
    await using app = await startOutgoing({
      observer: { attemptEnded: (attempt) => void seen.push(attempt) },
    });
    await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    await eventually(
      () => seen.length,
      (count) => count === 1,
    );
    const retryAtMs = app.stores.clock.nowMs() + 5000;
    await eventually(app.stores.deliveries.queues, ([queue]) => queue?.nextAtMs === retryAtMs);
    app.advance(5000);
    await eventually(
      () => seen.length,
      (count) => count === 2,
    );

    expect(seen).toMatchObject([
      { outcome: 'failed', lagMs: 0, endToEndMs: null, isExhausted: false },
      { outcome: 'delivered', lagMs: null, endToEndMs: 5000, isExhausted: false },
    ]);
  });
});
