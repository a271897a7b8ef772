import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/logger.ts';
import { type AttemptEnd, attempt } from '../../../src/webhooks/sending/attempt.ts';
import { attemptDelaysMs } from '../../../src/webhooks/sending/schedule.ts';
import { createSender } from '../../../src/webhooks/sending/sender.ts';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { aWebhook } from '../../support/builders.ts';
import { startReceiver } from '../receiver.ts';
import { openStores, type Stores } from '../stores.ts';

/** A webhook with one delivery that was claimed, as the pump hands it on. */
async function claimAndAttempt(
  stores: Stores,
  url: string,
  unreadable?: Error,
): Promise<AttemptEnd | undefined> {
  const { database, webhooks, deliveries, clock, newId } = stores;
  const stackKey = await stores.addStack();
  const runId = await stores.addRun(stackKey);
  const nowMs = clock.nowMs();
  const id = newId();
  const {
    claims: [claim],
  } = await database.write(async (tx) => {
    await webhooks.insert(tx, aWebhook({ id, stackKey, url, secret: 's' }));
    await deliveries.insert(tx, { id: newId(), webhookId: id, runId, stateVersion: 1, createdAtMs: nowMs });
    const wants = [{ webhookId: id, inFlightAtMost: 4 }];
    return deliveries.claim(tx, { nowMs, leaseUntilMs: nowMs + 45_000, wants });
  });
  const guard = createTargetGuard({ allowed: parseAllowedTargets(['127.0.0.1']) });
  await using sender = createSender({ guard, clock, version: '1', caBundle: null });
  const webhook = unreadable ?? (await webhooks.find(id));
  const parts = { sender, clock, logger: createLogger('silent'), random: () => 0, delaysMs: attemptDelaysMs };
  return claim && webhook ? attempt(parts, claim, webhook) : undefined;
}

describe('an attempt', () => {
  it.each([
    ['nobody wrote the payload', undefined],
    ['the webhook cannot be read', new Error('cannot be decrypted')],
  ])('that fails by our own fault, as %s, is tried again like any other', async (_why, webhook) => {
    await using receiver = await startReceiver();
    await using stores = await openStores();
    expect(await claimAndAttempt(stores, receiver.url, webhook)).toMatchObject({
      kind: 'finished',
      isTelling: false,
      finished: {
        outcome: 'failed',
        status: 'failed',
        error: 'internal',
        nextAttemptAtMs: stores.clock.nowMs() + 5000,
      },
    });
    expect(receiver.connections).toBe(0);
  });
});
