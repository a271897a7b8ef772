import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/logger.ts';
import { createPump, pumpLimits } from '../../../src/webhooks/sending/pump.ts';
import type { Sender } from '../../../src/webhooks/sending/sender.ts';
import { aWebhook } from '../../support/builders.ts';
import { eventually } from '../receiver.ts';
import { openStores, type Stores } from '../stores.ts';

async function queue(stores: Stores, count: number): Promise<string> {
  const { database, webhooks, deliveries, clock, newId } = stores;
  const stackKey = await stores.addStack();
  const webhook = aWebhook({ id: newId(), stackKey, url: 'https://hook.example/' });
  await database.write((tx) => webhooks.insert(tx, webhook));
  const runs: string[] = [];
  for (let index = 0; index < count; index += 1) runs.push(await stores.addRun(stackKey));
  await database.write(async (tx) => {
    for (const runId of runs) {
      await deliveries.insertPayload(tx, runId, 1, Buffer.from('{}'));
      const delivery = { id: newId(), webhookId: webhook.id, runId, stateVersion: 1 };
      await deliveries.insert(tx, { ...delivery, createdAtMs: clock.nowMs() });
    }
  });
  return webhook.id;
}

it('sends nothing twice when a quick receiver, with a long line before it, becomes slow', async () => {
  await using stores = await openStores();
  const { clock } = stores;
  const sent: string[] = [];
  const sender: Sender = {
    async send({ deliveryId }) {
      sent.push(deliveryId);
      // The first fill the line; with three seconds for each of the rest, their leases would run out in it.
      if (sent.length > 180) {
        clock.advance(3000);
        for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      }
      return { kind: 'delivered', statusCode: 204, durationMs: 1, exchange: null };
    },
    stop: () => undefined,
    giveUp: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const webhookId = await queue(stores, 300);
  const limits = { ...pumpLimits, groupMs: 1 };
  const parts = { ...stores, transactions: stores.database, logger: createLogger('silent') };
  await using pump = createPump({ ...parts, sender, limits });
  await pump.start();
  const listed = () => stores.deliveries.listOfWebhook(webhookId, { before: null, limit: 1000 });
  await eventually(
    async () => (await listed()).filter(({ status }) => status !== 'delivered').length,
    (left) => left === 0,
  );
  expect((await listed()).every(({ attempts }) => attempts.length === 1)).toBe(true);
  expect(sent).toHaveLength(300);
  expect(new Set(sent).size).toBe(300);
});

it('sends nothing that is only in line once the webhook is changed', async () => {
  await using stores = await openStores();
  /** Versions of the webhook, as they were sent to. */
  const before: number[] = [];
  const after: number[] = [];
  let isChanged = false;
  let changing: Promise<void> | null = null;

  async function change(): Promise<void> {
    const endpoint = { endpoint: 'https://new.example/', url: 'https://new.example/' };
    await stores.database.write((tx) => stores.webhooks.update(tx, webhookId, { endpoint }));
    pump.recall(webhookId);
    isChanged = true;
  }

  const sender: Sender = {
    async send({ webhook }) {
      (isChanged ? after : before).push(webhook.version);
      // Those in flight wait for it, with a line behind them.
      if (before.length === 100) changing ??= change();
      await changing;
      return { kind: 'delivered', statusCode: 204, durationMs: 1, exchange: null };
    },
    stop: () => undefined,
    giveUp: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const webhookId = await queue(stores, 200);
  const parts = { ...stores, transactions: stores.database, logger: createLogger('silent') };
  await using pump = createPump({ ...parts, sender, limits: pumpLimits });
  await pump.start();
  await eventually(
    () => stores.deliveries.listOfWebhook(webhookId, { before: null, limit: 1000 }),
    (listed) => listed.every(({ status }) => status === 'delivered'),
  );
  expect(after.length).toBeGreaterThan(50);
  expect(new Set(after)).toEqual(new Set([2]));
});
