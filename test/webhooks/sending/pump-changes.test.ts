import { describe, expect, it } from 'vitest';
import { startOutgoing } from '../outgoing.ts';
import { eventually, startReceiver } from '../receiver.ts';

const statusesOf = (deliveries: readonly { readonly status: string }[]) =>
  deliveries.map(({ status }) => status);

describe('the pump, when a webhook changes', () => {
  it('disables a webhook whose receiver is gone, with the reason, and skips what was waiting', async () => {
    await using receiver = await startReceiver(({ stateVersion }) => (stateVersion === 1 ? 500 : 410));
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    await run.change(2);
    await eventually(
      () => app.webhooks.find(id),
      (webhook) => webhook?.enabled === false,
    );
    expect((await app.webhooks.find(id))?.disabledReason).toBe('The receiver answered 410 Gone.');
    expect(statusesOf(await app.deliveriesOf(id))).toEqual(['skipped', 'failed']);
    await run.change(3);
    app.advance(3_600_000);
    await app.restartPump();
    expect(receiver.received).toHaveLength(2);
    expect(await app.deliveriesOf(id)).toHaveLength(2);
  });

  it('sends nothing more once a webhook is disabled, and starts again with the next state', async () => {
    await using receiver = await startReceiver(() => 500);
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    await app.webhooks.update(id, { enabled: false });
    expect(statusesOf(await app.deliveriesOf(id))).toEqual(['skipped']);
    await run.change(2);
    app.advance(3_600_000);
    await app.webhooks.update(id, { enabled: true });
    receiver.answer(() => 204);
    await run.change(3);
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    expect(receiver.received.map(({ stateVersion }) => stateVersion)).toEqual([1, 3]);
  });

  it('uses a new endpoint and secret for what was waiting', async () => {
    await using old = await startReceiver(() => 500);
    await using moved = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: old.url });
    await (await app.startRun()).change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    await app.webhooks.update(id, { endpoint: moved.url, secret: 'new' });
    app.advance(5000);
    await eventually(
      () => moved.received.length,
      (count) => count === 1,
    );
    expect(moved.received[0]?.headers).toHaveProperty('webhook-signature');
  });

  it('forgets the deliveries of a webhook that is removed while one is in flight', async () => {
    const responses: { end(): void }[] = [];
    await using receiver = await startReceiver(() => (response) => void responses.push(response));
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await eventually(
      () => responses.length,
      (count) => count === 1,
    );
    await app.webhooks.remove(id);
    responses[0]?.end();
    await run.change(2);
    await app.stopPump();
    expect(receiver.received).toHaveLength(1);
    expect(await app.stores.deliveries.queues()).toEqual([]);
  });
});
