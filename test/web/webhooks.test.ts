import { describe, expect, it } from 'vitest';
import { goodEndpoints } from '../webhooks/targets/good-endpoints.ts';
import { hostileEndpoints } from '../webhooks/targets/hostile-endpoints.ts';
import { call, untilUnconfirmed } from './installation.ts';
import { endpoint, path, withStack } from './webhook-world.ts';

/** Of `correct horse`. */
const fingerprint = 'key:4104d36f';

describe('webhooks', () => {
  it('show their secret to readers one by one, never in a list', async () => {
    await using fixture = await withStack();
    const made = await fixture.admin('POST', path, { endpoint, secret: 'correct horse' });

    const list = await fixture.reader('GET', path);
    const shown = await fixture.reader('GET', made.headers.get('location') ?? '');

    expect(made.status).toBe(201);
    const summary = {
      id: expect.any(String),
      stack: { account: 'acme', id: 'network-prod' },
      endpoint,
      enabled: true,
      filter: null,
      headers: {},
      createdAt: expect.any(Number),
    };
    expect(made.body).toEqual({ ...summary, secretFingerprint: fingerprint, oldSecrets: [] });
    expect(list.body).toEqual({ items: [summary], nextCursor: null });
    expect(shown.body).toEqual({ ...made.body, secret: 'correct horse' });
  });

  it('without a secret say null', async () => {
    await using fixture = await withStack();

    const none = await fixture.admin('POST', path, { endpoint });
    const empty = await fixture.admin('POST', path, { endpoint: `${endpoint}/2`, secret: '' });

    expect([none.body.secret, empty.body.secret]).toEqual([null, null]);
  });

  it.each([
    ['the same endpoint', 'HTTPS://Receiver.example:443/hook', 409, 'endpoint-not-unique'],
    ['this host', 'http://127.0.0.1:3000/x', 422, 'endpoint-refused'],
    ['another scheme', 'ftp://receiver.example/x', 422, 'endpoint-refused'],
    ['nothing', '', 422, 'invalid-input'],
  ])('refuse %s, new and changed', async (_, other, status, code) => {
    await using fixture = await withStack();
    await fixture.admin('POST', path, { endpoint });
    const second = await fixture.admin('POST', path, { endpoint: `${endpoint}/2` });

    const made = await fixture.admin('POST', path, { endpoint: other });
    const changed = await fixture.admin('PATCH', `/api/v1/webhooks/${second.body.id}`, { endpoint: other });

    expect(made.body).toMatchObject({ status, code });
    expect(changed.body).toMatchObject({ status, code });
  });

  it('refuse every hostile endpoint that their resolver can know, with a reason', async () => {
    await using fixture = await withStack();
    // That resolver has one good address for every name; and what is longer than any URL is not even looked at.
    const { 'names that resolve badly': _, ...groups } = hostileEndpoints;
    const hostile = Object.values(groups)
      .flat()
      .filter((url) => url !== '' && url.length <= 2048 && url !== 'http://metadata.example/');

    const answers = await Promise.all(
      hostile.map(async (url) => ({ url, ...(await fixture.admin('POST', path, { endpoint: url })).body })),
    );

    expect(hostile.length).toBeGreaterThan(300);
    expect(answers.filter(({ code, status }) => code !== 'endpoint-refused' || status !== 422)).toEqual([]);
    expect(answers.filter(({ errors }) => errors?.[0]?.path !== 'endpoint')).toEqual([]);
    expect((await fixture.admin('GET', path)).body.items).toEqual([]);
  });

  it('tell nobody but administrators whether an endpoint is possible', async () => {
    await using fixture = await withStack();
    const { id } = (await fixture.admin('POST', path, { endpoint })).body;
    const token = await fixture.installation.token('writer');
    const ask = (method: string, url: string, typed: string) =>
      call(fixture.installation, method, url, { token, body: { endpoint: typed } });

    for (const [method, url] of [['POST', path] as const, ['PATCH', `/api/v1/webhooks/${id}`] as const]) {
      const [possible, taken, hostile] = [
        await ask(method, url, `${endpoint}/2`),
        await ask(method, url, endpoint),
        await ask(method, url, 'http://169.254.169.254/'),
      ];
      expect(possible.status).toBe(403);
      expect([taken.body, hostile.body]).toEqual([possible.body, possible.body]);
    }
  });

  it('take every good endpoint, and once', async () => {
    await using fixture = await withStack();
    const seen = new Set<string>();
    for (const [typed, normalised] of goodEndpoints) {
      const made = await fixture.admin('POST', path, { endpoint: typed });
      expect([typed, made.status]).toEqual([typed, seen.has(normalised) ? 409 : 201]);
      seen.add(normalised);
    }
  });

  it('are switched off and on, edited and deleted', async () => {
    await using fixture = await withStack();
    const { id } = (await fixture.admin('POST', path, { endpoint, secret: 'correct horse' })).body;
    const one = `/api/v1/webhooks/${id}`;

    const off = await fixture.admin('PATCH', one, { enabled: false });
    const edited = await fixture.admin('PATCH', one, { endpoint: `${endpoint}/2`, enabled: true });
    const unsigned = await fixture.admin('PATCH', one, { secret: null });
    const deleted = await fixture.admin('DELETE', one);

    const secretFingerprint = fingerprint;
    const disabledAt = expect.any(Number);
    expect(off.body).toMatchObject({ enabled: false, endpoint, secretFingerprint, disabledAt });
    expect(edited.body).toMatchObject({ enabled: true, endpoint: `${endpoint}/2`, secretFingerprint });
    expect(edited.body).not.toHaveProperty('disabledAt');
    expect(unsigned.body).toMatchObject({ secret: null });
    expect(unsigned.body).not.toHaveProperty('secretFingerprint');
    expect([deleted.status, (await fixture.admin('GET', one)).status]).toEqual([204, 404]);
  });
});

describe('deliveries', () => {
  it('tell why a target was blocked to administrators only', async () => {
    await using fixture = await withStack();
    const { installation, stack } = fixture;
    const { id } = (await fixture.admin('POST', path, { endpoint })).body;
    const run = await installation.addRun(stack);
    const { deliveryStore, database } = installation;
    const {
      claims: [claim],
    } = await database.write((tx) =>
      deliveryStore.claim(tx, {
        nowMs: 1_999_000_000_000,
        leaseUntilMs: 1_999_000_045_000,
        wants: [{ webhookId: id, inFlightAtMost: 1 }],
      }),
    );
    if (!claim) throw new Error('nothing to claim');
    await database.write((tx) =>
      deliveryStore.finish(tx, [
        {
          deliveryId: claim.deliveryId,
          attempt: claim.attempt,
          startedAtMs: claim.startedAtMs,
          rejections: 0,
          outcome: 'blocked',
          statusCode: null,
          error: 'blocked',
          detail: '10.0.0.7 is private',
          exchange: null,
          durationMs: 3,
          status: 'failed',
          nextAttemptAtMs: 1_999_000_005_000,
        },
      ]),
    );
    const one = `/api/v1/deliveries/${claim.deliveryId}`;

    const [admin, reader] = [await fixture.admin('GET', one), await fixture.reader('GET', one)];
    const list = await fixture.reader('GET', `/api/v1/webhooks/${id}/deliveries?limit=1`);

    expect(admin.body).toEqual({
      id: claim.deliveryId,
      webhook: id,
      run: run.id,
      state: 'QUEUED',
      stateVersion: 1,
      status: 'failed',
      createdAt: expect.any(Number),
      nextAttemptAt: 1_999_000_005,
      attempts: [
        {
          number: 1,
          at: 1_999_000_000,
          outcome: 'blocked',
          durationMs: 3,
          error: 'blocked',
          detail: '10.0.0.7 is private',
          explanation: expect.objectContaining({ what: expect.any(String) }),
        },
      ],
    });
    expect(reader.body).toEqual({
      ...admin.body,
      attempts: [
        {
          number: 1,
          at: 1_999_000_000,
          outcome: 'failed',
          error: 'no-answer',
          explanation: expect.objectContaining({ what: 'There was no answer.' }),
        },
      ],
    });
    expect(list.body).toMatchObject({ items: [{ stateVersion: 2 }], nextCursor: expect.any(String) });
  });

  it('are sent again while their webhook is enabled', async () => {
    await using fixture = await withStack();
    const { id } = (await fixture.admin('POST', path, { endpoint })).body;
    await fixture.installation.addRun(fixture.stack);
    const list = await fixture.reader('GET', `/api/v1/webhooks/${id}/deliveries`);
    const resend = () => fixture.admin('POST', `/api/v1/deliveries/${list.body.items[0].id}/resend`);

    const accepted = await resend();
    await fixture.admin('PATCH', `/api/v1/webhooks/${id}`, { enabled: false });
    const refused = await resend();

    expect(accepted.status).toBe(202);
    expect(accepted.body).toMatchObject({ id: list.body.items[0].id, status: 'pending' });
    expect(refused.body).toMatchObject({ status: 409, code: 'webhook-disabled' });
  });
});

describe('events', () => {
  it('are the webhook bodies of all that the token may read, oldest first', async () => {
    await using fixture = await withStack();
    const { installation, stack } = fixture;
    const other = await installation.addStack('Other', 'globex/infra');
    await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
    await installation.addRun(other);
    const token = await installation.token('reader', 'acme');

    const states: string[] = [];
    let last = '';
    for (let after: string | null = ''; after !== null; ) {
      const page = await call(installation, 'GET', `/api/v1/events?limit=2&after=${after}`, { token });
      for (const { cursor, payload } of page.body.items) {
        states.push(`${payload.account} ${payload.stateVersion} ${payload.state}`);
        last = cursor;
      }
      after = page.body.nextCursor;
    }
    const none = await call(installation, 'GET', `/api/v1/events?after=${last}`, { token });

    const wanted = ['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING', 'UNCONFIRMED'];
    expect(states).toEqual(wanted.map((state, index) => `acme ${index + 1} ${state}`));
    expect(none.body).toEqual({ items: [], nextCursor: null });
    const all = await call(installation, 'GET', '/api/v1/events', {
      token: await installation.token('reader'),
    });
    expect(all.body.items).toHaveLength(8);
  });
});
