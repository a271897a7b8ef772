import { describe, expect, it } from 'vitest';
import { payloadSchema } from '../../src/webhooks/payload-schema.ts';
import { createSender } from '../../src/webhooks/sending/sender.ts';
import { certificateState, createTestDeliveries } from '../../src/webhooks/test-delivery.ts';
import { aStack } from '../support/builders.ts';
import { type Outgoing, startOutgoing } from './outgoing.ts';
import { eventually, startReceiver } from './receiver.ts';
import { loopback } from './sending/messages.ts';

function testsOf(app: Outgoing) {
  const { clock, newId, webhooks, deliveries } = app.stores;
  const limits = { deadlineMs: 500, bodyMs: 100, bodyBytes: 65_536 };
  const newSender = () => createSender({ guard: loopback, clock, version: '1', caBundle: null, limits });
  const tests = createTestDeliveries({ webhooks, deliveries, newSender, clock, newId });
  const stack = aStack({ key: app.stackKey });
  return (id: string) => tests.send(id, stack);
}

async function tested(send: ReturnType<typeof testsOf>, id: string) {
  const result = await send(id);
  if (typeof result === 'string') throw new Error(result);
  return result;
}

describe('a test of a webhook', () => {
  it('sends the latest state change, signed, marked by a header, and stores nothing', async () => {
    await using receiver = await startReceiver(() => (response) => void response.end('{"ok":true}'));
    await using app = await startOutgoing({ starts: false });
    const made = { endpoint: receiver.url, secret: 'correct horse', enabled: false };
    const { id } = await app.webhooks.create(app.stackKey, made);
    const run = await app.startRun();
    await run.change(1, 'QUEUED');
    await run.change(2, 'READY');

    const result = await tested(testsOf(app), id);

    const [one] = receiver.received;
    expect(result).toMatchObject({ ok: true, outcome: 'delivered', statusCode: 200, explanation: null });
    expect(result.exchange?.response?.body).toBe('{"ok":true}');
    expect(result.exchange?.timingsMs.connect).toEqual(expect.any(Number));
    expect(result.exchange?.request.headers['x-slipway-test']).toBe('true');
    expect(one?.headers).toMatchObject({
      'x-slipway-test': 'true',
      'x-slipway-delivery': result.id,
      'x-signature-256': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    });
    expect(Buffer.from((await app.stores.deliveries.payload(run.id, 2)) ?? [])).toEqual(one?.body);
    expect(await app.deliveries.find(result.id)).toBeNull();
    expect(await app.deliveriesOf(id)).toEqual([]);
    expect(await app.stores.deliveries.health(id)).toBeNull();
  });

  it('makes up a state change in the shape of the specification when there is none', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing({ starts: false });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });

    await tested(testsOf(app), id);

    const payload = payloadSchema.parse(JSON.parse(receiver.received[0]?.body.toString() ?? ''));
    expect(payload).toMatchObject({ state: 'FINISHED', account: 'acme', stack: { id: 'network-prod' } });
  });

  it('says what went wrong, and leaves the health alone', async () => {
    await using receiver = await startReceiver(() => 401);
    await using app = await startOutgoing({ starts: false });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const send = testsOf(app);

    const refused = await tested(send, id);
    await receiver[Symbol.asyncDispose]();
    const closed = await tested(send, id);

    expect(refused).toMatchObject({ ok: false, outcome: 'failed', statusCode: 401 });
    expect(refused.explanation?.what).toContain('signature');
    expect(closed).toMatchObject({ ok: false, error: 'refused', detail: 'ECONNREFUSED', statusCode: null });
    expect(await app.stores.deliveries.health(id)).toBeNull();
  });

  it('runs once at a time for a webhook, and knows no other', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing({ starts: false });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const send = testsOf(app);
    const waiting: (() => void)[] = [];
    receiver.answer(() => (response) => void waiting.push(() => response.writeHead(204).end()));

    const first = send(id);
    await eventually(
      () => waiting.length,
      (count) => count === 1,
    );
    expect(await send(id)).toBe('busy');
    waiting[0]?.();
    expect(await first).toMatchObject({ ok: true });
    receiver.answer(() => 204);

    expect(await send(id)).toMatchObject({ ok: true });
    expect(await send('nobody')).toBe('missing');
  });
});

it('warns of a certificate that ends within 14 days', () => {
  const now = 1_795_000_000;
  const inDays = (days: number) => certificateState(now + days * 86_400, now);

  expect(inDays(14)).toEqual({ expiresAt: now + 14 * 86_400, daysLeft: 14, isEnding: false });
  expect(inDays(13.9)).toMatchObject({ daysLeft: 13, isEnding: true });
  expect(inDays(-0.5)).toMatchObject({ daysLeft: -1, isEnding: true });
});
