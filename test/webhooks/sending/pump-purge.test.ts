import { expect, it } from 'vitest';
import { createLogger } from '../../../src/logger.ts';
import { sweepAttempts } from '../../../src/webhooks/retention.ts';
import { startOutgoing } from '../outgoing.ts';
import { eventually, startReceiver } from '../receiver.ts';

const days = 30;
const dayMs = 86_400_000;

it('sends all of a backlog while what is old is removed', async () => {
  await using receiver = await startReceiver();
  await using app = await startOutgoing({ starts: false });
  const { clock, deliveries, database: transactions } = app.stores;
  const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
  const change = async (count: number) => {
    for (let index = 0; index < count; index += 1) await (await app.startRun()).change(1);
  };
  await change(300);
  await app.restartPump();
  await eventually(
    () => receiver.received.length,
    (count) => count === 300,
  );
  await app.stopPump();
  clock.advance((days + 1) * dayMs);
  await change(300);
  const parts = { deliveries, transactions, days, clock, logger: createLogger('silent'), pauseMs: 0 };

  await app.restartPump();
  await sweepAttempts(parts, new AbortController().signal);
  await eventually(
    () => app.stores.deliveries.queues(),
    (queues) => queues.length === 0,
  );

  const all = await app.deliveriesOf(id);
  expect(all.map(({ status }) => status)).toEqual(Array(600).fill('delivered'));
  expect(all.map(({ attempts }) => attempts.length)).toEqual([...Array(300).fill(0), ...Array(300).fill(1)]);
  expect(new Set(receiver.received.map(({ delivery }) => delivery)).size).toBe(600);
}, 60_000);
