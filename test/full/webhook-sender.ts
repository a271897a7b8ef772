/**
 * A process that tells state changes to webhooks for as long as it lives, in `argv[2]`, a data directory of a life before
 * or a new one. It prints the ids of deliveries once they are committed, and after "drain" on stdin it ends when all of
 * them were sent.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { createIds } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import { openStores } from '../../src/storage/stores.ts';
import { createWebhookFeature } from '../../src/webhooks/webhooks.ts';
import { aCommit, anAccount, aRepository, aRun, aStack, aWebhook } from '../support/builders.ts';

const [, , dataDir = '', origin = ''] = process.argv;
const statesOfRun = 5;

const stores = await openStores({
  dataDir,
  databasePath: join(dataDir, 'slipway.db'),
  secretKeyPath: join(dataDir, 'secret.key'),
});
const { database } = stores;
const clock = systemClock;
const newId = createIds(clock, stores.newestId);
const stack = aStack();
const feature = createWebhookFeature({
  ...{ stores, clock, newId, transactions: database, caBundle: null, version: '1' },
  allowedTargets: ['127.0.0.1'],
  logger: createLogger('fatal'),
  observer: { attemptEnded: () => undefined },
  noteOnRun: () => Promise.resolve(),
});

if ((await stores.stacks.findByKey(stack.key)) === null) {
  await database.write(async (tx) => {
    await stores.repositories.saveAccount(tx, anAccount());
    await stores.repositories.saveRepository(tx, aRepository());
    const { key, id, settings, createdAtMs } = stack;
    await stores.stacks.insert(tx, { key, id, settings, createdAtMs, accountId: 11, repositoryId: 21 });
    for (const name of ['a', 'b', 'c']) {
      const webhook = aWebhook({ id: newId(), stackKey: stack.key, url: `${origin}/${name}` });
      await stores.webhooks.insert(tx, webhook);
    }
  });
}
await feature.pump.start();

let isDraining = false;
process.stdin.on('data', () => {
  isDraining = true;
});
process.stdout.write('ready\n');
while (!isDraining) {
  const run = aRun({ id: newId(), commit: aCommit() });
  for (let stateVersion = 1; stateVersion <= statesOfRun; stateVersion += 1) {
    await database.write(async (tx) => {
      if (stateVersion === 1) {
        await stores.runs.insert(tx, { ...run, type: 'PROPOSED', dedupeKey: run.id });
      }
      const event = { run: { ...run, stateVersion }, stack, timestampMs: clock.nowMs(), actor: 'worker' };
      await feature.reactor(tx, { ...event, note: null });
    });
    process.stdout.write(`${run.id} ${stateVersion}\n`);
  }
  await delay(1);
}
while ((await stores.deliveries.queues()).length > 0) await delay(20);
process.exit(0);
