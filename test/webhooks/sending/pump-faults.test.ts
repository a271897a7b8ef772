import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database.ts';
import { createDeliveryStore } from '../../../src/storage/delivery-store.ts';
import { startOutgoing } from '../outgoing.ts';
import { eventually, startReceiver } from '../receiver.ts';

describe('the pump and receivers that misbehave', () => {
  it('does not let one that hangs delay another', async () => {
    await using hanging = await startReceiver(() => () => undefined);
    await using healthy = await startReceiver();
    // Longer than the test may take: nothing below waits for it.
    await using app = await startOutgoing({ deadlineMs: 30_000, limits: { drainMs: 0 } });
    await app.webhooks.create(app.stackKey, { endpoint: hanging.url });
    await app.webhooks.create(app.stackKey, { endpoint: healthy.url });
    for (let index = 0; index < 50; index += 1) await (await app.startRun()).change(1);
    await eventually(
      () => healthy.received.length,
      (count) => count === 50,
    );
    expect(hanging.received.length).toBeLessThanOrEqual(4);
  });

  it('gives a webhook its turn while others fill all places', async () => {
    await using hanging = await startReceiver(() => () => undefined);
    await using healthy = await startReceiver();
    await using app = await startOutgoing({ deadlineMs: 300, limits: { drainMs: 0, inFlight: 2 } });
    for (const name of ['a', 'b', 'c', 'd']) {
      await app.webhooks.create(app.stackKey, { endpoint: `${hanging.url}/${name}` });
    }
    await app.webhooks.create(app.stackKey, { endpoint: healthy.url });
    for (let index = 0; index < 5; index += 1) await (await app.startRun()).change(1);
    await eventually(
      () => healthy.received.length,
      (count) => count > 0,
    );
    // Four turns of two for the others, and what started meanwhile: not their whole queues of 20.
    expect(hanging.received.length).toBeLessThanOrEqual(10);
  });

  it('takes a time-out, a reset and a redirect for failures of that attempt alone', async () => {
    await using receiver = await startReceiver(({ stateVersion }) => {
      if (stateVersion === 1) return () => undefined;
      if (stateVersion === 2) return (_response, socket) => void socket.resetAndDestroy();
      if (stateVersion === 3) return (response) => void response.writeHead(307, { location: '/x' }).end();
      return 204;
    });
    await using app = await startOutgoing({ deadlineMs: 200 });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    for (const version of [1, 2, 3, 4]) await run.change(version);
    const all = await eventually(
      () => app.deliveriesOf(id),
      (seen) => seen.at(-1)?.status === 'delivered',
    );
    expect(
      all.map(({ attempts: [attempt] }) => [attempt?.outcome, attempt?.error, attempt?.statusCode]),
    ).toEqual([
      ['failed', 'timeout', null],
      ['failed', 'reset', null],
      ['failed', 'status', 307],
      ['delivered', null, 204],
    ]);
  });

  it('judges the target at every attempt: a name that moves to a private address is blocked', async () => {
    await using receiver = await startReceiver();
    let answer = ['127.0.0.1'];
    const resolve = () => Promise.resolve(answer);
    await using app = await startOutgoing({ resolve });
    const endpoint = `http://rebind.example:${receiver.port}/hook`;
    const { id } = await app.webhooks.create(app.stackKey, { endpoint });
    answer = ['127.0.0.1', '10.0.0.1'];
    const run = await app.startRun();
    await run.change(1);
    const [blocked] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    expect(blocked).toMatchObject({
      nextAttemptAtMs: app.stores.clock.nowMs() + 5000,
      attempts: [{ outcome: 'blocked', error: 'blocked', detail: 'the host is not on the public internet' }],
    });
    expect(receiver.connections).toBe(0);

    answer = ['127.0.0.1'];
    app.advance(5000);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
  });

  it('connects to no private target that is not allowed', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing({ allowed: [`127.0.0.1:1`] });
    await expect(app.webhooks.create(app.stackKey, { endpoint: receiver.url })).rejects.toMatchObject({
      code: 'endpoint-refused',
    });
    expect(receiver.connections).toBe(0);
  });
});

describe('the pump after a crash', () => {
  it('takes over at its start what a former life had claimed: same id, next number, order kept', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing({ starts: false });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await run.change(2);
    // What a process leaves that dies between its claim and the answer.
    const nowMs = app.stores.clock.nowMs();
    const wants = [{ webhookId: id, inFlightAtMost: 4 }];
    const options = { nowMs, leaseUntilMs: nowMs + 45_000, wants };
    const { claims } = await app.stores.database.write((tx) => app.stores.deliveries.claim(tx, options));
    const [lost] = claims;

    await app.restartPump();
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    expect(receiver.received).toMatchObject([
      { delivery: lost?.deliveryId, stateVersion: 1, attempt: 2 },
      { stateVersion: 2, attempt: 1 },
    ]);
    expect((await app.deliveriesOf(id))[0]?.attempts).toMatchObject([
      { number: 1, outcome: 'unknown' },
      { number: 2, outcome: 'delivered' },
    ]);
  });

  it('takes over what another process held, once its lease is over', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    await using other = openDatabase(app.stores.path);
    const otherStore = createDeliveryStore(other);
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const runId = (await app.startRun()).id;
    const nowMs = app.stores.clock.nowMs();
    const { claims } = await other.write(async (tx) => {
      await otherStore.insertPayload(tx, runId, 1, Buffer.from('{"stateVersion":1}'));
      await otherStore.insert(tx, { id: 'd', webhookId: id, runId, stateVersion: 1, createdAtMs: nowMs });
      const wants = [{ webhookId: id, inFlightAtMost: 4 }];
      const options = { nowMs, leaseUntilMs: nowMs + 45_000, wants };
      return otherStore.claim(tx, options);
    });
    expect(claims).toHaveLength(1);
    app.advance(44_999);
    expect(receiver.received).toHaveLength(0);
    app.advance(1);
    await eventually(
      () => receiver.received.length,
      (count) => count === 1,
    );
    expect(receiver.received).toMatchObject([{ delivery: 'd', attempt: 2 }]);
  });

  it('sends by itself what another process wrote, without being woken', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing({ limits: { pollMs: 20 } });
    await using other = openDatabase(app.stores.path);
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const runId = (await app.startRun()).id;
    await other.write(async (tx) => {
      const store = createDeliveryStore(other);
      const createdAtMs = app.stores.clock.nowMs();
      await store.insertPayload(tx, runId, 1, Buffer.from('{"stateVersion":1}'));
      await store.insert(tx, { id: 'd', webhookId: id, runId, stateVersion: 1, createdAtMs });
    });
    await eventually(
      () => receiver.received.length,
      (count) => count === 1,
    );
  });
});

describe('the pump at its end', () => {
  it('waits for what is in flight, and starts nothing more', async () => {
    const responses: { end(): void }[] = [];
    await using receiver = await startReceiver(() => (response) => void responses.push(response));
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const run = await app.startRun();
    await run.change(1);
    await run.change(2);
    await eventually(
      () => responses.length,
      (count) => count === 1,
    );
    const stopped = app.stopPump();
    responses[0]?.end();
    await stopped;
    const states = (await app.deliveriesOf(id)).map(({ status, attempts }) => [status, attempts.length]);
    expect(states).toEqual([
      ['delivered', 1],
      ['pending', 0],
    ]);
    await app.restartPump();
    await eventually(
      () => responses.length,
      (count) => count === 2,
    );
    responses[1]?.end();
  });

  it('gives up on what takes longer, and the next life sends it again at once', async () => {
    await using receiver = await startReceiver(() => () => undefined);
    await using app = await startOutgoing({ deadlineMs: 30_000, limits: { drainMs: 20 } });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    await (await app.startRun()).change(1);
    await eventually(
      () => receiver.received.length,
      (count) => count === 1,
    );
    await app.stopPump();
    expect(await app.deliveriesOf(id)).toMatchObject([
      { status: 'pending', attempts: [{ outcome: 'unknown' }] },
    ]);
    receiver.answer(() => 204);
    await app.restartPump();
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    expect(receiver.received.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('can end without having been started', async () => {
    await using app = await startOutgoing({ starts: false });
    await app.stopPump();
  });
});
