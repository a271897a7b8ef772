import { describe, expect, it } from 'vitest';
import { createClaiming } from '../../../src/webhooks/sending/claiming.ts';
import { createPlaces, type Places } from '../../../src/webhooks/sending/places.ts';
import { pumpLimits } from '../../../src/webhooks/sending/pump.ts';
import { createReadyList } from '../../../src/webhooks/sending/ready-list.ts';
import { aWebhook } from '../../support/builders.ts';
import { openStores, type Stores } from '../stores.ts';

/** Webhooks with one delivery each, which is due. */
async function dueWebhooks(stores: Stores, names: readonly string[], areFailing: boolean): Promise<void> {
  const { database, webhooks, deliveries, clock, newId } = stores;
  const stackKey = await stores.addStack();
  const runId = await stores.addRun(stackKey);
  const nowMs = clock.nowMs();
  await database.write(async (tx) => {
    await deliveries.insertPayload(tx, runId, 1, Buffer.from('{}'));
    for (const id of names) {
      const url = `https://${id}.example/`;
      await webhooks.insert(tx, aWebhook({ id, stackKey, endpoint: url, url }));
      const delivery = { id: newId(), webhookId: id, runId, stateVersion: 1, createdAtMs: nowMs };
      await deliveries.insert(tx, delivery);
      if (!areFailing) continue;
      await deliveries.saveHealth(tx, id, {
        ...{ failedAttempts: 5, failingSinceMs: nowMs, lastFailedAtMs: nowMs, exhausted: 0, warnings: 0 },
        ...{ pausedUntilMs: null, lastError: 'timeout' },
      });
    }
  });
}

/** Places of which `taken` are taken by webhooks that are not looked at. */
function placesWith(taken: number, limits = pumpLimits): Places {
  const places = createPlaces(limits);
  const claim = {
    ...{ deliveryId: '', webhookVersion: 1, runId: '', stateVersion: 1, attempt: 1, tries: 1 },
    ...{ startedAtMs: 0, rejections: 0, createdAtMs: 0, body: null },
  };
  for (let index = 0; index < taken; index += 1) {
    places.add([{ claim: { ...claim, webhookId: `other${index}` }, webhook: new Error('not read') }]);
  }
  return places;
}

describe('claiming', () => {
  it('finds a webhook that works behind any number of failing ones that may not start', async () => {
    await using stores = await openStores();
    const failing = Array.from({ length: 600 }, (_, index) => `failing${index}`);
    await dueWebhooks(stores, failing, true);
    await dueWebhooks(stores, ['healthy', 'late'], false);
    const ready = createReadyList();
    // So many that what is left is kept for webhooks that work.
    const places = placesWith(pumpLimits.inFlight - 64);
    const claim = createClaiming({ ...stores, ready, places, limits: pumpLimits });
    const claimed = async () => {
      const jobs = await stores.database.write((tx) => claim(tx, stores.clock.nowMs()));
      return jobs.map((job) => job.claim.webhookId);
    };
    for (const id of [...failing, 'healthy']) ready.add(id);
    expect(await claimed()).toEqual(['healthy']);
    for (const id of failing) ready.expect(id, stores.clock.nowMs());
    ready.add('late');
    expect(await claimed()).toEqual(['late']);
  });

  it('comes back to failing ones that were passed over, in their order, once there is room', async () => {
    await using stores = await openStores();
    const failing = Array.from({ length: 300 }, (_, index) => `failing${index}`);
    await dueWebhooks(stores, failing, true);
    const ready = createReadyList();
    const limits = { ...pumpLimits, inFlight: 16 };
    const full = placesWith(12, limits);
    const empty = createPlaces(limits);
    for (const id of failing) ready.add(id);
    const nowMs = stores.clock.nowMs();
    const claimWith = (places: Places) =>
      stores.database.write((tx) => createClaiming({ ...stores, ready, places, limits })(tx, nowMs));
    expect(await claimWith(full)).toEqual([]);
    const jobs = await claimWith(empty);
    expect(jobs.map((job) => job.claim.webhookId)).toEqual(failing.slice(0, 12));
  });
});
