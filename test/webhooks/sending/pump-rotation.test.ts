import { createHash, createHmac } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import { describe, expect, it } from 'vitest';
import type { OldSecret } from '../../../src/webhooks/webhook.ts';
import { type Outgoing, startOutgoing } from '../outgoing.ts';
import { eventually, type Received, startReceiver } from '../receiver.ts';

const fingerprint = (secret: string) =>
  `key:${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;
const signedWith = async (secret: string, { body, headers }: Received) =>
  headers['x-signature-256'] === (await sign(secret, body.toString('utf8')));

/** A webhook whose secret was replaced: "new" for "old", which was "older" before. */
async function rotated(app: Outgoing, endpoint: string, oldSecrets: readonly OldSecret[]): Promise<string> {
  const { id } = await app.webhooks.create(app.stackKey, { endpoint, secret: 'old' });
  const { database, webhooks } = app.stores;
  await database.write((tx) => webhooks.update(tx, id, { secret: 'new', oldSecrets }));
  return id;
}

/** A receiver that knows one secret. */
const receiverThatKnows = (secret: string) =>
  startReceiver((received) => (response) => {
    void signedWith(secret, received).then((isKnown) => response.writeHead(isKnown ? 204 : 401).end());
  });

const attemptsOf = async (app: Outgoing, webhookId: string) => {
  const [delivery] = await app.deliveriesOf(webhookId);
  const found = await app.stores.deliveries.find(delivery?.id ?? '');
  return found?.attempts.map(({ outcome, exchange }) => [outcome, exchange?.key]) ?? [];
};

describe('a secret that is being replaced', () => {
  it('loses nothing: what the receiver refuses comes again soon, signed with the one before', async () => {
    await using receiver = await receiverThatKnows('older');
    await using app = await startOutgoing();
    const untilMs = app.stores.clock.nowMs() + 60_000;
    const id = await rotated(app, receiver.url, [
      { secret: 'old', untilMs },
      { secret: 'older', untilMs },
    ]);
    await (await app.startRun()).change(1);
    for (const attempts of [1, 2]) {
      await eventually(
        () => app.deliveriesOf(id),
        ([one]) => one?.attempts[attempts - 1]?.outcome === 'failed',
      );
      expect((await app.deliveriesOf(id))[0]?.nextAttemptAtMs).toBe(app.stores.clock.nowMs() + 5000);
      app.advance(5000);
    }
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    expect(await attemptsOf(app, id)).toEqual([
      ['failed', fingerprint('new')],
      ['failed', fingerprint('old')],
      ['delivered', fingerprint('older')],
    ]);
  });

  it('comes back to the new one, in the usual time, when none is accepted', async () => {
    await using receiver = await startReceiver(() => 403);
    await using app = await startOutgoing();
    const untilMs = app.stores.clock.nowMs() + 60_000;
    const id = await rotated(app, receiver.url, [{ secret: 'old', untilMs }]);
    await (await app.startRun()).change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    app.advance(5000);
    const [delivery] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.attempts[1]?.outcome === 'failed',
    );
    expect(delivery?.nextAttemptAtMs).toBe(app.stores.clock.nowMs() + 30_000);
    app.advance(30_000);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.attempts[2]?.outcome === 'failed',
    );
    expect((await attemptsOf(app, id)).map(([, key]) => key)).toEqual(['new', 'old', 'new'].map(fingerprint));
  });

  it('does not use an old one after its time, and takes other failures for no refusal', async () => {
    await using receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 401 : 500));
    await using app = await startOutgoing();
    const untilMs = app.stores.clock.nowMs() + 5000;
    const id = await rotated(app, receiver.url, [{ secret: 'old', untilMs }]);
    await (await app.startRun()).change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'failed',
    );
    app.advance(5000);
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    for (const received of receiver.received) expect(await signedWith('new', received)).toBe(true);
    expect(receiver.received[1]?.headers['webhook-signature']).not.toContain(' ');
  });

  it('has a signature of each in the header with room for them, the new one first', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const untilMs = app.stores.clock.nowMs() + 5000;
    const id = await rotated(app, receiver.url, [{ secret: 'old', untilMs }]);
    await (await app.startRun()).change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    const signatures = receiver.received[0]?.headers['webhook-signature']?.split(' ') ?? [];
    const [received] = receiver.received;
    const { 'webhook-id': delivery, 'webhook-timestamp': timestamp } = received?.headers ?? {};
    const signed = `${delivery}.${timestamp}.${received?.body.toString('utf8')}`;
    const by = (secret: string) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`;
    expect(signatures).toEqual([by('new'), by('old')]);
  });
});
