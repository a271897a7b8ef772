import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Outgoing, startOutgoing } from './outgoing.ts';
import { eventually, startReceiver } from './receiver.ts';

const secret = 'a secret of twenty-six chars';

async function opened() {
  const receiver = await startReceiver();
  const app = await startOutgoing();
  const { id: webhookId } = await app.webhooks.create(app.stackKey, {
    ...{ endpoint: receiver.url, secret, headers: { 'x-team': 'ours', 'x-other': 'kept' } },
  });
  const run = await app.startRun();
  await run.change(1);
  await eventually(
    () => receiver.received.length,
    (count) => count === 1,
  );
  const request = {
    ...{ webhookId, stackKey: app.stackKey, runId: run.id, stateVersion: 1 },
    ...{ policy: { id: 'policy-1', name: 'Tell' }, headers: {} },
  };
  return {
    ...{ app, receiver, request, webhookId },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

type Request = Parameters<Outgoing['policyRequests']['send']>[1];
const send = (app: Outgoing, request: Request) =>
  app.stores.database.write((tx) => app.policyRequests.send(tx, request));

describe('what a policy sends to a webhook', () => {
  it('arrives signed, told apart by a header, as a delivery of its own', async () => {
    await using world = await opened();
    const { app, receiver, webhookId, request } = world;
    const payload = { text: 'Grüße', half: '\ud83d' };
    await send(app, { ...request, payload, headers: { 'X-Team': 'policy' } });
    const [change, told] = await eventually(
      () => receiver.received,
      ({ length }) => length === 2,
    );

    expect(told?.body.toString()).toBe('{"text":"Grüße","half":"\ufffd"}');
    const hex = createHmac('sha256', secret)
      .update(told?.body ?? '')
      .digest('hex');
    expect(told?.headers).toMatchObject({
      ...{ 'x-signature-256': `sha256=${hex}`, 'x-slipway-event': 'policy' },
      ...{ 'x-team': 'policy', 'x-other': 'kept', 'content-type': 'application/json' },
    });
    expect(change?.headers).not.toHaveProperty('x-slipway-event');
    expect(told?.delivery).not.toBe(change?.delivery);

    const deliveries = await eventually(
      () => app.deliveriesOf(webhookId),
      (all) => all.every(({ status }) => status === 'delivered'),
    );
    expect(deliveries.map(({ policy }) => policy?.name ?? null)).toEqual([null, 'Tell']);
    const shown = (await app.deliveries.find(told?.delivery ?? ''))?.attempts[0]?.exchange;
    expect(shown?.request.headers).toMatchObject({ 'x-team': '***', 'x-other': '***' });
  });

  it('is the body of the state change when it says nothing else, and is tried again', async () => {
    await using world = await opened();
    const { app, receiver, webhookId, request } = world;
    receiver.answer(() => 500);
    await send(app, request);
    await eventually(
      () => app.deliveriesOf(webhookId),
      (all) => all.at(-1)?.status === 'failed',
    );
    receiver.answer(() => 204);
    app.advance(5000);
    await eventually(
      () => app.deliveriesOf(webhookId),
      (all) => all.at(-1)?.status === 'delivered',
    );

    const [change, first, second] = receiver.received;
    expect(first?.body).toEqual(change?.body);
    expect([first?.delivery, second?.attempt]).toEqual([second?.delivery, 2]);
  });

  it('counts as no state change that was told', async () => {
    await using world = await opened();
    const { app, webhookId, request } = world;
    await app.stores.addEvents(request.runId, ['QUEUED', 'READY']);
    await send(app, { ...request, stateVersion: 2, payload: {} });
    await eventually(
      () => app.deliveriesOf(webhookId),
      (all) => all.every(({ status }) => status === 'delivered'),
    );

    const filter = { states: null, runTypes: null };
    const missed = { webhookId, stackKey: app.stackKey, filter, sinceMs: 0, limit: 10 };
    expect(await app.stores.missed.missed(missed)).toBe(1);
  });

  it('does not happen to a webhook that was disabled meanwhile', async () => {
    await using world = await opened();
    const { app, webhookId, request } = world;
    await app.webhooks.update(webhookId, { enabled: false });
    await send(app, { ...request, payload: {} });
    await send(app, { ...request, webhookId: 'gone', payload: {} });

    expect(await app.deliveriesOf(webhookId)).toHaveLength(1);
  });

  it.each<[string, Partial<Request>, RegExp]>([
    ['a webhook that is unknown', { webhookId: 'nobody' }, /^the stack has no webhook "nobody"$/],
    ['a webhook of another stack', { stackKey: 'other' }, /^the stack has no webhook/],
    [
      'a header that is ours',
      { headers: { 'X-Signature': 'x' } },
      /^headers\.x-signature: .* cannot be set$/,
    ],
    ['a header that is none', { headers: { 'a b': 'secret' } }, /^headers: name 1 is not the name/],
    [
      'a huge payload',
      { payload: 'x'.repeat(300_000) },
      /^the payload has 300002 bytes; 262144 are the most$/,
    ],
  ])('is refused for %s', async (_, change, reason) => {
    await using world = await opened();
    const { policyRequests } = world.app;
    expect(await policyRequests.endpointsOf(world.app.stackKey)).toEqual([world.webhookId]);
    expect(await policyRequests.refusalOf(world.request)).toBeNull();

    expect(await policyRequests.refusalOf({ ...world.request, ...change })).toMatch(reason);
  });

  it('is refused while the webhook is disabled', async () => {
    await using world = await opened();
    await world.app.webhooks.update(world.webhookId, { enabled: false });
    expect(await world.app.policyRequests.refusalOf(world.request)).toMatch(/is disabled$/);
  });
});
