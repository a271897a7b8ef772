import { createHmac } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Webhooks } from '../../src/webhooks/endpoint.ts';
import { startOutgoing } from './outgoing.ts';
import { eventually, type Received, startReceiver } from './receiver.ts';

type Change = (webhooks: Webhooks, id: string) => Promise<unknown>;

const overlapping = { secret: 'new', overlapHours: 24 };
/** What leaves the webhook enabled, and the secret that signs afterwards. */
const edits: readonly (readonly [string, Change, string])[] = [
  ['another secret', (webhooks, id) => webhooks.update(id, { secret: 'new' }), 'new'],
  ['a regenerated secret', (webhooks, id) => webhooks.regenerateSecret(id, overlapping), 'new'],
  ['no secret', (webhooks, id) => webhooks.update(id, { secret: null }), ''],
  ['another header', (webhooks, id) => webhooks.update(id, { headers: { 'x-key': 'v' } }), 'old'],
  [
    'a filter that it does not pass',
    (webhooks, id) => webhooks.update(id, { filter: { states: ['FINISHED'], runTypes: null } }),
    'old',
  ],
];
const ends: readonly (readonly [string, Change, readonly string[]])[] = [
  ['disabled', (webhooks, id) => webhooks.update(id, { enabled: false }), ['skipped']],
  [
    'disabled and enabled',
    async (webhooks, id) => {
      await webhooks.update(id, { enabled: false });
      await webhooks.update(id, { enabled: true });
    },
    ['skipped'],
  ],
  ['deleted', (webhooks, id) => webhooks.remove(id), []],
];

const signed = (secret: string, { body }: Received) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** A webhook whose first attempt has arrived and is not answered yet. */
async function inFlight() {
  const responses: ServerResponse[] = [];
  const receiver = await startReceiver(() => (response) => void responses.push(response));
  const app = await startOutgoing({ deadlineMs: 10_000 });
  const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url, secret: 'old' });
  await (await app.startRun()).change(1);
  await eventually(
    () => responses.length,
    (count) => count === 1,
  );
  const outcomes = async () => (await app.deliveriesOf(id)).map(({ status }) => status);
  return {
    ...{ receiver, app, id, outcomes },
    answer: (status: number, headers: OutgoingHttpHeaders = {}) =>
      responses[0]?.writeHead(status, headers).end(),
    /** The first attempt has a result. */
    ended: () =>
      eventually(
        () => app.deliveriesOf(id),
        (deliveries) =>
          deliveries.every(({ attempts: [first] }) => first !== undefined && first.outcome !== 'started'),
      ),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

describe('a webhook that is changed while it is called', () => {
  it.each(edits)('has the next attempt made with %s', async (_, change, secret) => {
    await using world = await inFlight();
    await change(world.app.webhooks, world.id);
    world.receiver.answer(() => 204);
    world.answer(500);
    await eventually(world.outcomes, ([status]) => status === 'failed');
    world.app.advance(5000);
    await eventually(world.outcomes, ([status]) => status === 'delivered');

    const [first, second, ...more] = world.receiver.received;
    if (!first || !second) throw new Error('two attempts are missing');
    expect(more).toEqual([]);
    expect(first.headers['x-signature-256']).toBe(signed('old', first));
    expect(second.headers['x-signature-256']).toBe(signed(secret, second));
    expect(second.body.equals(first.body)).toBe(true);
    expect(second.delivery).toBe(first.delivery);
  });

  it('has the next attempt made elsewhere once it moved', async () => {
    await using world = await inFlight();
    await using elsewhere = await startReceiver();
    await world.app.webhooks.update(world.id, { endpoint: elsewhere.url });
    world.answer(500);
    await eventually(world.outcomes, ([status]) => status === 'failed');
    world.app.advance(5000);
    await eventually(world.outcomes, ([status]) => status === 'delivered');
    expect(elsewhere.received).toMatchObject([{ attempt: 2 }]);
    expect(world.receiver.received).toHaveLength(1);
  });

  it('is told at its new endpoint what the old one did not want', async () => {
    await using world = await inFlight();
    await using elsewhere = await startReceiver();
    await world.app.webhooks.update(world.id, { endpoint: elsewhere.url });
    world.answer(410);
    await eventually(world.outcomes, ([status]) => status === 'delivered');
    expect(elsewhere.received).toMatchObject([{ attempt: 2 }]);
  });

  it.each([
    [410, {}],
    [503, { 'retry-after': '3600' }],
  ])('does not suffer from what the receiver it had before answers: %i', async (status, headers) => {
    await using world = await inFlight();
    await using elsewhere = await startReceiver();
    await world.app.webhooks.update(world.id, { endpoint: elsewhere.url });
    world.answer(status, headers);
    await eventually(world.outcomes, ([first]) => first !== 'pending');
    await (await world.app.startRun()).change(1);
    await eventually(world.outcomes, ([, second]) => second === 'delivered');
    expect(await world.app.webhooks.find(world.id)).toMatchObject({ enabled: true });
    expect(await world.app.stores.deliveries.health(world.id)).toBeNull();
  });
});

describe('a webhook that ends while it is called', () => {
  it.each(ends)('is not called again when it is %s and the attempt fails', async (_, change, statuses) => {
    await using world = await inFlight();
    await change(world.app.webhooks, world.id);
    world.receiver.answer(() => 204);
    world.answer(500);
    await world.ended();
    world.app.advance(24 * 3_600_000);
    await world.app.stopPump();
    await world.app.restartPump();
    await world.app.stopPump();
    expect(await world.outcomes()).toEqual(statuses);
    expect(world.receiver.received).toHaveLength(1);
  });

  it.each(ends)('has it delivered when it is %s and the attempt succeeds', async (_, change, statuses) => {
    await using world = await inFlight();
    await change(world.app.webhooks, world.id);
    world.answer(204);
    await world.ended();
    await world.app.stopPump();
    expect(await world.outcomes()).toEqual(statuses.map(() => 'delivered'));
  });

  it('is tried again by schedule when it was enabled and asked for again before the attempt failed', async () => {
    await using world = await inFlight();
    await world.app.webhooks.update(world.id, { enabled: false });
    await world.app.webhooks.update(world.id, { enabled: true });
    const [delivery] = await world.app.deliveriesOf(world.id);
    await world.app.deliveries.resend(delivery?.id ?? '', 'ada');
    world.receiver.answer(() => 204);
    world.answer(500);
    await eventually(world.outcomes, ([status]) => status === 'failed');
    world.app.advance(5000);
    await eventually(world.outcomes, ([status]) => status === 'delivered');
    expect(world.receiver.received.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });
});
