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

const running = () => ({ stop: new AbortController().signal, giveUp: new AbortController().signal });

/** A webhook with one delivery that was claimed; `before` happens between the claim and the attempt. */
async function claimAndAttempt(
  stores: Stores,
  url: string,
  before: (webhookId: string) => Promise<unknown> = () => Promise.resolve(),
  signals = running(),
): Promise<AttemptEnd | undefined> {
  const { database, webhooks, deliveries, clock, newId } = stores;
  const stackKey = await stores.addStack();
  const runId = await stores.addRun(stackKey);
  const nowMs = clock.nowMs();
  const webhook = aWebhook({ id: newId(), stackKey, url, secret: 's' });
  const [claim] = await database.write(async (tx) => {
    await webhooks.insert(tx, webhook);
    await deliveries.insert(tx, {
      id: newId(),
      webhookId: webhook.id,
      runId,
      stateVersion: 1,
      createdAtMs: nowMs,
    });
    const options = { nowMs, leaseUntilMs: nowMs + 45_000, limit: 1, perWebhook: 4, afterWebhook: null };
    return deliveries.claim(tx, options);
  });
  await before(webhook.id);
  const guard = createTargetGuard({ allowed: parseAllowedTargets(['127.0.0.1']) });
  await using sender = createSender({ guard, clock, version: '1', caBundle: null });
  const parts = { webhooks, deliveries, sender, clock, logger: createLogger('silent') };
  return claim && attempt({ ...parts, random: () => 0, delaysMs: attemptDelaysMs }, claim, signals);
}

describe('an attempt', () => {
  it('sends nothing to a webhook that was disabled after the claim', async () => {
    await using receiver = await startReceiver();
    await using stores = await openStores();
    const disabled = { reason: null, atMs: 0 };
    const disable = (id: string) =>
      stores.database.write((tx) => stores.webhooks.update(tx, id, { disabled }));
    expect(await claimAndAttempt(stores, receiver.url, disable)).toMatchObject({ kind: 'unsent' });
    expect(receiver.connections).toBe(0);
  });

  it('sends nothing to a webhook that was removed after the claim', async () => {
    await using receiver = await startReceiver();
    await using stores = await openStores();
    const remove = (id: string) => stores.database.write((tx) => stores.webhooks.remove(tx, id));
    expect(await claimAndAttempt(stores, receiver.url, remove)).toMatchObject({ kind: 'unsent' });
    expect(receiver.connections).toBe(0);
  });

  it('sends nothing once the pump is stopping', async () => {
    await using receiver = await startReceiver();
    await using stores = await openStores();
    const stopping = { ...running(), stop: AbortSignal.abort() };
    const end = await claimAndAttempt(stores, receiver.url, undefined, stopping);
    expect(end).toMatchObject({ kind: 'unsent' });
    expect(receiver.connections).toBe(0);
  });

  it('that fails by our own fault is tried again like any other', async () => {
    await using receiver = await startReceiver();
    await using stores = await openStores();
    // Nobody wrote the payload.
    expect(await claimAndAttempt(stores, receiver.url)).toMatchObject({
      kind: 'finished',
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
