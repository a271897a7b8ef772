import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { attemptDelaysMs } from '../../../src/webhooks/sending/schedule.ts';
import { startOutgoing } from '../outgoing.ts';
import { eventually, startReceiver } from '../receiver.ts';

const statusesOf = (deliveries: readonly { readonly status: string }[]) =>
  deliveries.map(({ status }) => status);

describe('the pump', () => {
  it('tells every state of a run to every enabled webhook of its stack', async () => {
    await using one = await startReceiver();
    await using two = await startReceiver();
    await using off = await startReceiver();
    await using app = await startOutgoing();
    await app.webhooks.create(app.stackKey, { endpoint: one.url });
    await app.webhooks.create(app.stackKey, { endpoint: two.url, secret: 'secret' });
    await app.webhooks.create(app.stackKey, { endpoint: off.url, enabled: false });
    const run = await app.startRun();
    await run.change(1, 'QUEUED');
    await run.change(2, 'READY');

    for (const receiver of [one, two]) {
      await eventually(
        () => receiver.received.length,
        (count) => count === 2,
      );
      const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString('utf8')));
      expect(bodies).toMatchObject([
        { state: 'QUEUED', stateVersion: 1, run: { id: run.id } },
        { state: 'READY', stateVersion: 2, run: { id: run.id } },
      ]);
    }
    expect(off.connections).toBe(0);
  });

  it('keeps the payload of a state that no webhook wants', async () => {
    await using app = await startOutgoing();
    const run = await app.startRun();
    await run.change(1);
    expect(await app.stores.deliveries.payload(run.id, 1)).not.toBeNull();
  });

  it('sends nothing of a transaction that was rolled back', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    // The same state again breaks the payload's key, inside the transaction.
    await expect(run.change(1)).rejects.toThrow();
    await run.change(2);
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    expect(receiver.received.map(({ stateVersion }) => stateVersion)).toEqual([1, 2]);
  });

  it('sends first attempts in the order of states, each once the one before has its answer', async () => {
    let open = 0;
    let mostOpen = 0;
    await using receiver = await startReceiver(() => (response) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      setImmediate(() => {
        open -= 1;
        response.writeHead(204).end();
      });
    });
    await using app = await startOutgoing();
    await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    for (let version = 1; version <= 12; version += 1) await run.change(version);
    await eventually(
      () => receiver.received.length,
      (count) => count === 12,
    );
    const versions = receiver.received.map(({ stateVersion }) => stateVersion);
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(mostOpen).toBe(1);
  });

  it('sends at most four at once to one webhook', async () => {
    const responses: { end(): void }[] = [];
    await using receiver = await startReceiver(() => (response) => void responses.push(response));
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    for (let index = 0; index < 10; index += 1) await (await app.startRun()).change(1);
    await eventually(
      () => responses.length,
      (count) => count === 4,
    );
    const started = (await app.deliveriesOf(id)).filter(({ attempts }) => attempts.length > 0);
    expect(started).toHaveLength(4);
    for (let answered = 0; answered < 10; answered += 1) {
      await eventually(
        () => responses.length,
        (count) => count > answered,
      );
      responses[answered]?.end();
    }
    await eventually(
      () => app.deliveriesOf(id),
      (all) => statusesOf(all).every((status) => status === 'delivered'),
    );
  });

  it('goes on by itself after an attempt that failed while somebody else was writing', async () => {
    const responses: ServerResponse[] = [];
    await using receiver = await startReceiver(() => (response) => void responses.push(response));
    let ended = 0;
    await using app = await startOutgoing({
      // Nothing is found by looking around.
      limits: { perWebhook: 1, pollMs: 600_000 },
      observer: {
        attemptEnded() {
          ended += 1;
        },
      },
    });
    await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    for (let index = 0; index < 2; index += 1) await (await app.startRun()).change(1);
    await eventually(
      () => responses.length,
      (count) => count === 1,
    );
    const writing = Promise.withResolvers<void>();
    const written = app.stores.database.write(() => writing.promise);
    app.wake();
    // Until the pump waits for the other writer.
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    responses[0]?.writeHead(500).end();
    await eventually(
      () => ended,
      (count) => count === 1,
    );
    writing.resolve();
    await written;
    await eventually(
      () => responses.length,
      (count) => count === 2,
    );
    responses[1]?.end();
  });

  it('tries again by schedule, with the same id and bytes and the next number, and does not hold up newer states', async () => {
    await using receiver = await startReceiver(({ stateVersion }) => (stateVersion === 1 ? 500 : 204));
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await run.change(2);
    await eventually(
      () => app.deliveriesOf(id),
      (all) => statusesOf(all).join() === 'failed,delivered',
    );

    receiver.answer(() => 204);
    app.advance(5000);
    await eventually(
      () => app.deliveriesOf(id),
      (all) => statusesOf(all).join() === 'delivered,delivered',
    );
    const [first, , again] = receiver.received;
    expect(again).toMatchObject({ delivery: first?.delivery, stateVersion: 1, attempt: 2 });
    expect(again?.body).toEqual(first?.body);
    expect(again?.headers['x-signature-256']).toBe(first?.headers['x-signature-256']);
    expect((await app.deliveriesOf(id))[0]?.attempts).toMatchObject([
      { number: 1, outcome: 'failed', error: 'status', statusCode: 500 },
      { number: 2, outcome: 'delivered', statusCode: 204 },
    ]);
  });

  it('gives up after 13 attempts, visibly', async () => {
    await using receiver = await startReceiver(() => 503);
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    for (const [index, delay] of attemptDelaysMs.entries()) {
      app.advance(delay);
      const number = index + 1;
      await eventually(
        () => app.deliveriesOf(id),
        ([one]) => one?.attempts.length === number && one.attempts.at(-1)?.outcome === 'failed',
      );
    }
    expect(await app.deliveriesOf(id)).toMatchObject([{ status: 'exhausted', nextAttemptAtMs: null }]);
    expect(receiver.received.map(({ attempt }) => attempt)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    ]);
  });

  it('waits as long as Retry-After asks', async () => {
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(503, { 'retry-after': '600' }).end(),
    );
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    const [delivery] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    expect(delivery?.nextAttemptAtMs).toBe(app.stores.clock.nowMs() + 600_000);
  });
});
