import { createHmac, timingSafeEqual } from 'node:crypto';
import { expect, it } from 'vitest';
import { startOutgoing } from '../outgoing.ts';
import { eventually, type Received, startReceiver } from '../receiver.ts';

/**
 * A receiver as people write it for the service whose contract this is: X-Signature-256 over the raw body in GitHub's
 * form, no check without a secret, and of the payload `account`, `state` and `stateVersion` with the run's id.
 */
function aReceiverOfThatShape(secret: string | null) {
  const runs = new Map<
    string,
    { readonly account: string; readonly state: string; readonly stateVersion: number }
  >();

  function isSigned({ body, headers }: Received): boolean {
    if (secret === null) return true;
    const [scheme, hex = ''] = (headers['x-signature-256'] ?? '').split('=');
    const digest = createHmac('sha256', secret).update(body).digest();
    const given = Buffer.from(hex, 'hex');
    return scheme === 'sha256' && given.length === digest.length && timingSafeEqual(given, digest);
  }

  return {
    runs,
    answer(received: Received): number {
      if (!isSigned(received)) return 401;
      const { account, state, stateVersion, run } = JSON.parse(received.body.toString());
      if (stateVersion > (runs.get(run.id)?.stateVersion ?? 0))
        runs.set(run.id, { account, state, stateVersion });
      return 200;
    },
  };
}

it.each([
  ['checks signatures', 's3cret', 's3cret'],
  ['has no secret, as has the webhook', null, null],
  ['has no secret, although the webhook has', null, 's3cret'],
])('a receiver of the usual shape that %s ends at the last state', async (_what, itsSecret, secret) => {
  const { answer, runs } = aReceiverOfThatShape(itsSecret);
  await using receiver = await startReceiver(answer);
  await using app = await startOutgoing();
  const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url, secret });
  const run = await app.startRun();

  await run.change(1, 'QUEUED');
  await run.change(2, 'PLANNING');
  await run.change(3, 'FINISHED');

  const deliveries = await eventually(
    () => app.deliveriesOf(id),
    (all) => all.length === 3 && all.every(({ status }) => status === 'delivered'),
  );
  expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
  expect([...runs]).toEqual([[run.id, { account: 'acme', state: 'FINISHED', stateVersion: 3 }]]);
});

it.each([
  ['another secret', 'other'],
  ['none', null],
])('it refuses a webhook with %s, and the delivery stays to be tried again', async (_what, secret) => {
  const { answer, runs } = aReceiverOfThatShape('s3cret');
  await using receiver = await startReceiver(answer);
  await using app = await startOutgoing();
  const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url, secret });

  await (await app.startRun()).change(1, 'QUEUED');

  const [delivery] = await eventually(
    () => app.deliveriesOf(id),
    ([one]) => one?.status === 'failed',
  );
  expect(delivery?.attempts).toMatchObject([{ statusCode: 401 }]);
  expect(delivery?.nextAttemptAtMs).not.toBeNull();
  expect(runs.size).toBe(0);
});
