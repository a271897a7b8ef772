import { describe, expect, it } from 'vitest';
import { startOutgoing } from './outgoing.ts';
import { eventually, startReceiver } from './receiver.ts';

describe('a resend', () => {
  it('sends a delivered one again with the same id, and starts the schedule anew', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    const [delivery] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    receiver.answer(() => 500);
    await app.deliveries.resend(delivery?.id ?? '', 'ada');
    const failed = await eventually(
      () => app.deliveries.find(delivery?.id ?? ''),
      (one) => one?.status === 'failed',
    );
    expect(failed?.nextAttemptAtMs).toBe(app.stores.clock.nowMs() + 5000);
    expect(receiver.received.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(receiver.received.map((one) => one.delivery)).size).toBe(1);
  });

  it('happens once, however often it is asked for at the same time', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    const [delivery] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    const responses: { end(): void }[] = [];
    receiver.answer(() => (response) => void responses.push(response));
    await Promise.all(Array.from({ length: 100 }, () => app.deliveries.resend(delivery?.id ?? '', 'ada')));
    await eventually(
      () => responses.length,
      (count) => count === 1,
    );
    await app.deliveries.resend(delivery?.id ?? '', 'ada');
    responses[0]?.end();
    await eventually(
      () => app.deliveries.find(delivery?.id ?? ''),
      (one) => one?.status === 'delivered',
    );
    expect(receiver.received).toHaveLength(2);
  });

  it('is refused while the webhook is disabled, and finds nothing where nothing is', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    const [delivery] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    await app.webhooks.update(id, { enabled: false });
    await expect(app.deliveries.resend(delivery?.id ?? '', 'ada')).rejects.toMatchObject({
      code: 'webhook-disabled',
    });
    expect(await app.deliveries.resend('nobody', 'ada')).toBeNull();
  });
});
