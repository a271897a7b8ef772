import { describe, expect, it } from 'vitest';
import { attempted } from './attempted.ts';
import { anInstallation, call } from './installation.ts';

const endpoint = 'https://receiver.example/hook?token=in-the-query';

/** A webhook of a stack with one run in READY: two state changes, two deliveries. */
async function prepared() {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const { id } = await installation.webhooks.create(stack.key, { endpoint, secret: 'correct horse' });
  const run = await installation.addRun(stack);
  const tokens = {
    admin: await installation.token('admin'),
    writer: await installation.token('writer'),
    reader: await installation.token('reader'),
  };
  const as = (token: string) => (method: string, url: string, body?: unknown) =>
    call(installation, method, `/api/v1${url}`, { token, body });
  return {
    installation,
    webhook: id,
    run,
    admin: as(tokens.admin),
    writer: as(tokens.writer),
    reader: as(tokens.reader),
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

describe('a delivery', () => {
  it('shows administrators what went over the wire, and everybody what to do', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook);

    const admin = await world.admin('GET', `/deliveries/${deliveryId}`);
    const reader = await world.reader('GET', `/deliveries/${deliveryId}`);
    const list = await world.admin('GET', `/webhooks/${world.webhook}/deliveries`);

    const [attempt] = admin.body.attempts;
    expect(attempt.exchange).toMatchObject({
      key: 'key:1f0c2b3a',
      request: { headers: { 'x-token': '***' } },
      response: { body: 'wrong signature', bodyTruncated: false },
      connection: { address: '10.0.0.7', port: 443, tls: { validTo: 1_796_000_000 } },
      timingsMs: { dns: 1.5, connect: 2, tls: 3, firstByte: 9.1, total: 9.4 },
    });
    expect(attempt.explanation.what).toContain('signature');
    expect(reader.body.nextAttemptAt).toBe(1_999_000_005);
    expect(reader.body.attempts[0]).toEqual({ ...attempt, exchange: undefined });
    expect(reader.text).not.toMatch(/10\.0\.0\.7|wrong signature|1f0c2b3a/);
    expect(list.text).not.toContain('wrong signature');
  });

  it('shows its body byte for byte', async () => {
    await using world = await prepared();
    const { deliveryId, body } = await attempted(world.installation, world.webhook);

    const answer = await world.reader('GET', `/deliveries/${deliveryId}/body`);

    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.text).toBe(Buffer.from(body ?? []).toString('utf8'));
    expect(answer.body).toMatchObject({ state: 'QUEUED', stateVersion: 1 });
  });

  it('is what its webhook last did, for readers without what the network is like', async () => {
    await using world = await prepared();
    const change = { statusCode: null, error: 'refused', detail: 'ECONNREFUSED 10.0.0.7' };
    const before = await world.admin('GET', `/webhooks/${world.webhook}`);
    await attempted(world.installation, world.webhook, change);

    const admin = await world.admin('GET', `/webhooks/${world.webhook}`);
    const reader = await world.reader('GET', '/stacks/acme/network-prod/webhooks');

    expect(before.body.lastAttempt).toBeUndefined();
    const told = { number: 1, at: 1_999_000_000, outcome: 'failed' };
    expect(admin.body.lastAttempt).toMatchObject({ ...told, durationMs: 12, detail: change.detail });
    const { explanation, ...seen } = reader.body.items[0].lastAttempt;
    expect(seen).toEqual({ ...told, error: 'no-answer' });
    expect(explanation).toBeDefined();
  });

  it('becomes a curl command, if it was ever sent', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook);
    const { body } = await world.reader('GET', `/webhooks/${world.webhook}/deliveries?status=pending`);

    const command = await world.admin('GET', `/deliveries/${deliveryId}/curl?attempt=1`);
    const other = await world.admin('GET', `/deliveries/${deliveryId}/curl?attempt=2`);
    const unsent = await world.admin('GET', `/deliveries/${body.items[0].id}/curl`);

    expect(command.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(command.text).toContain(`--data-binary @- '${endpoint}'`);
    expect(command.text).toContain('# The value of x-token is not kept');
    expect(other.body).toMatchObject({ status: 404, code: 'exchange-missing' });
    expect(unsent.body).toMatchObject({ status: 404, code: 'exchange-missing' });
  });

  it('is found by what became of it, and by its run', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook);
    const list = `/webhooks/${world.webhook}/deliveries`;

    const failed = await world.reader('GET', `${list}?status=failed`);
    const ofRun = await world.reader('GET', `${list}?run=${world.run.id}`);
    const ofOther = await world.reader('GET', `${list}?run=01JNOBODY`);
    const queued = await world.reader('GET', `${list}?state=QUEUED`);
    const wrong = await world.reader('GET', `${list}?status=odd`);

    expect(failed.body.items.map(({ id }: { id: string }) => id)).toEqual([deliveryId]);
    expect(queued.body.items).toMatchObject([{ id: deliveryId, state: 'QUEUED', stateVersion: 1 }]);
    expect([ofRun.body.items.length, ofOther.body.items.length]).toEqual([2, 0]);
    expect(wrong.body).toMatchObject({ status: 422, errors: [{ path: 'status' }] });
  });

  it('says in the log who sent it again', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook);

    await world.writer('POST', `/deliveries/${deliveryId}/resend`);

    expect(world.installation.logged).toContainEqual(
      expect.objectContaining({ delivery: deliveryId, by: 'writer-token' }),
    );
    expect(JSON.stringify(world.installation.logged)).not.toMatch(/in-the-query|correct horse/);
  });
});

describe('a replay', () => {
  it('is counted, started once, listed and canceled', async () => {
    await using world = await prepared();
    const one = `/webhooks/${world.webhook}`;

    const dry = await world.writer('POST', `${one}/replay`, { since: 0, dryRun: true });
    const started = await world.writer('POST', `${one}/replay`, { since: 0, state: 'READY' });
    const second = await world.writer('POST', `${one}/replay`, { since: 0 });
    const list = await world.reader('GET', `${one}/replays`);
    const canceled = await world.writer('POST', `${one}/replays/${started.body.replay}/cancel`);
    const elsewhere = await world.writer('POST', `${one}/replays/01JNOBODY/cancel`);

    const oldest = Math.floor(world.run.createdAtMs / 1000);
    expect(dry.status).toBe(202);
    expect(dry.body).toEqual({
      count: 2,
      states: { QUEUED: 1, READY: 1 },
      oldest: expect.closeTo(oldest, -1),
    });
    expect(started.body).toMatchObject({ count: 1, replay: expect.any(String) });
    expect(second.body).toMatchObject({ status: 409, code: 'replay-running', replay: started.body.replay });
    expect(list.body.items).toEqual([
      {
        id: started.body.replay,
        webhook: world.webhook,
        status: 'running',
        since: 0,
        until: expect.any(Number),
        state: 'READY',
        failedOnly: false,
        total: 1,
        queued: 0,
        createdAt: expect.any(Number),
        createdBy: 'writer-token',
      },
    ]);
    expect(canceled.body).toMatchObject({ status: 'canceled', endedAt: expect.any(Number) });
    expect(elsewhere.status).toBe(404);
  });

  it.each([
    [{}, 'since'],
    [{ since: -1 }, 'since'],
    [{ since: 1_795_000_000_000 }, 'since'],
    [{ since: 10, until: 9 }, 'until'],
    [{ since: 0, state: 'ODD' }, 'state'],
    [{ since: 0, forever: true }, 'forever'],
  ])('of %j is refused', async (body, path) => {
    await using world = await prepared();

    const answer = await world.writer('POST', `/webhooks/${world.webhook}/replay`, body);

    expect(answer.body).toMatchObject({ status: 422, code: 'invalid-input', errors: [{ path }] });
  });

  it('is nothing when there is nothing, and is refused while the webhook is disabled', async () => {
    await using world = await prepared();
    const one = `/webhooks/${world.webhook}`;

    const none = await world.writer('POST', `${one}/replay`, { since: 4_000_000_000 });
    await world.admin('PATCH', one, { enabled: false });
    const counted = await world.writer('POST', `${one}/replay`, { since: 0, failedOnly: true, dryRun: true });
    const refused = await world.writer('POST', `${one}/replay`, { since: 0 });

    expect(none.body).toEqual({ count: 0, states: {}, oldest: expect.any(Number) });
    // What was pending is skipped now: not delivered.
    expect(counted.body.count).toBe(2);
    expect(refused.body).toMatchObject({ status: 409, code: 'webhook-disabled' });
  });
});

describe('a test of a webhook', () => {
  it('tells its phases, and the end of the certificate', async () => {
    await using world = await prepared();

    const answer = await world.admin('POST', `/webhooks/${world.webhook}/test`);

    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      ok: true,
      outcome: 'delivered',
      statusCode: 204,
      phases: { dnsMs: 1.5, connectMs: 2, tlsMs: 3, firstByteMs: 9.1, totalMs: 9.4 },
      certificate: { expiresAt: 1_796_000_000, daysLeft: 11, warning: expect.stringContaining('11 days') },
      exchange: { request: { headers: { 'x-slipway-test': 'true' } } },
    });
    expect(answer.body.explanation).toBeUndefined();
  });

  it('explains why it was blocked', async () => {
    await using world = await prepared();
    const detail = '10.0.0.7 is private';
    world.installation.outcomes.push({ kind: 'blocked', detail, durationMs: 1, exchange: null });

    const { body } = await world.admin('POST', `/webhooks/${world.webhook}/test`);

    expect(body).toMatchObject({ ok: false, outcome: 'blocked', detail, phases: { totalMs: 1 } });
    expect(body.explanation.advice).toContain('WEBHOOK_ALLOWED_TARGETS');
  });
});

describe('the deliveries of a run', () => {
  it('show each state for each webhook', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook, {
      outcome: 'delivered',
      status: 'delivered',
      statusCode: 204,
      error: null,
      nextAttemptAtMs: null,
    });
    const stack = world.run.stackKey;
    const late = await world.installation.webhooks.create(stack, { endpoint: 'https://late.example:8443/' });

    const { body } = await world.reader('GET', `/runs/${world.run.id}/deliveries`);

    expect(body.complete).toBe(false);
    expect(body.webhooks).toMatchObject([
      {
        webhook: world.webhook,
        host: 'receiver.example',
        complete: false,
        states: [
          { state: 'QUEUED', stateVersion: 1, light: 'green', status: 'delivered', delivery: deliveryId },
          { state: 'READY', stateVersion: 2, light: 'amber', status: 'pending' },
        ],
      },
      {
        webhook: late.id,
        host: 'late.example:8443',
        complete: true,
        states: [{ light: 'grey' }, { light: 'grey' }],
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('in-the-query');
  });
});
