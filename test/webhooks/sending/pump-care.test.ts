import { describe, expect, it } from 'vitest';
import type { Notice, Notices } from '../../../src/webhooks/sending/notices.ts';
import { type Outgoing, startOutgoing } from '../outgoing.ts';
import { eventually, startReceiver } from '../receiver.ts';

const statusesOf = (deliveries: readonly { readonly status: string }[]) =>
  deliveries.map(({ status }) => status);

function heard(): { readonly notices: Notices; readonly seen: Notice[] } {
  const seen: Notice[] = [];
  const notify = (_tx: unknown, notice: Notice) => Promise.resolve(void seen.push(notice));
  return { notices: { notify }, seen };
}

/** So many states of runs of their own. */
async function change(app: Outgoing, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await (await app.startRun()).change(1);
}

describe('the pump and a webhook in trouble', () => {
  it('sends nothing to it while its receiver asked for a pause, then everything', async () => {
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(429, { 'retry-after': '600' }).end(),
    );
    await using other = await startReceiver();
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await app.webhooks.create(app.stackKey, { endpoint: other.url });
    await change(app, 1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    receiver.answer(() => 204);
    await change(app, 5);
    await eventually(
      () => other.received.length,
      (count) => count === 6,
    );
    app.advance(599_999);
    await change(app, 1);
    await eventually(
      () => other.received.length,
      (count) => count === 7,
    );
    expect(receiver.received).toHaveLength(1);

    app.advance(1);
    await eventually(
      () => app.deliveriesOf(id),
      (all) => statusesOf(all).every((status) => status === 'delivered'),
    );
    expect(await app.stores.deliveries.health(id)).toBeNull();
  });

  it('probes it with one request at a time after five failures, until one succeeds', async () => {
    const responses: { writeHead(status: number): { end(): void } }[] = [];
    await using receiver = await startReceiver(() => 500);
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await change(app, 5);
    await eventually(
      async () => statusesOf(await app.deliveriesOf(id)),
      (all) => all.length === 5 && all.every((status) => status === 'failed'),
    );
    receiver.answer(() => (response) => void responses.push(response));
    await change(app, 6);
    const inFlight = async () =>
      (await app.deliveriesOf(id)).filter(({ attempts }) => attempts.at(-1)?.outcome === 'started').length;
    await eventually(
      () => responses.length,
      (count) => count === 1,
    );
    expect(await inFlight()).toBe(1);
    responses[0]?.writeHead(500).end();
    await eventually(
      () => responses.length,
      (count) => count === 2,
    );
    expect(await inFlight()).toBe(1);
    responses[1]?.writeHead(204).end();
    await eventually(
      () => responses.length,
      (count) => count === 6,
    );
    expect(await inFlight()).toBe(4);
  });

  it('warns, gives it up after 72 hours without a success, and tells of each once', async () => {
    const { notices, seen } = heard();
    await using receiver = await startReceiver(() => 500);
    await using app = await startOutgoing({ notices });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    for (let attempts = 1; attempts <= 13; attempts += 1) {
      const [one] = await eventually(
        () => app.deliveriesOf(id),
        ([delivery]) =>
          delivery?.attempts.length === attempts && delivery.attempts.at(-1)?.outcome === 'failed',
      );
      if (one?.nextAttemptAtMs) app.advance(one.nextAttemptAtMs - app.stores.clock.nowMs());
    }
    expect(seen.map(({ kind }) => kind)).toEqual(['failing', 'failing', 'failing', 'exhausted']);
    expect((await app.webhooks.find(id))?.enabled).toBe(true);

    // The schedule without jitter ends just before the 72 hours.
    app.advance(3_600_000);
    await run.change(2);
    await eventually(
      () => app.webhooks.find(id),
      (webhook) => webhook?.enabled === false,
    );
    expect(seen.map(({ kind }) => kind)).toEqual(['failing', 'failing', 'failing', 'exhausted', 'disabled']);
    expect(seen.at(-1)).toMatchObject({ webhookId: id, runId: run.id, stateVersion: 2 });
    expect((await app.webhooks.find(id))?.disabledReason).toBe('Nothing was delivered for 72 hours.');
    expect(statusesOf(await app.deliveriesOf(id))).toEqual(['exhausted', 'skipped']);
  });

  it('is told once that it is gone, however many were in flight', async () => {
    const { notices, seen } = heard();
    const responses: { writeHead(status: number): { end(): void } }[] = [];
    await using receiver = await startReceiver(() => (response) => void responses.push(response));
    await using app = await startOutgoing({ notices });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await change(app, 6);
    await eventually(
      () => responses.length,
      (count) => count === 4,
    );
    for (const response of responses) response.writeHead(410).end();
    await eventually(
      async () => statusesOf(await app.deliveriesOf(id)),
      (all) => all.every((status) => status === 'failed' || status === 'skipped'),
    );
    expect(seen.map(({ kind }) => kind)).toEqual(['disabled']);
    expect(receiver.received).toHaveLength(4);
  });

  it('stops at the wish of its receiver, said with a failure and not with a success', async () => {
    await using receiver = await startReceiver(
      ({ stateVersion }) =>
        (response) =>
          void response.writeHead(stateVersion === 1 ? 200 : 400, { 'webhook-delivery': 'disable' }).end(),
    );
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    expect((await app.webhooks.find(id))?.enabled).toBe(true);
    await run.change(2);
    const webhook = await eventually(
      () => app.webhooks.find(id),
      (one) => one?.enabled === false,
    );
    expect(webhook?.disabledReason).toBe('The receiver asked for no more deliveries.');
  });

  it('goes on when the clock is set back: new states at once, retries in their time', async () => {
    await using receiver = await startReceiver(({ stateVersion, attempt }) =>
      stateVersion === 1 && attempt === 1 ? 500 : 204,
    );
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    app.advance(-3_600_000);
    await run.change(2);
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.nextAttemptAtMs === app.stores.clock.nowMs() + 5000,
    );
    app.advance(5000);
    await eventually(
      async () => statusesOf(await app.deliveriesOf(id)),
      (all) => all.join() === 'delivered,delivered',
    );
  });
});
