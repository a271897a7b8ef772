import { describe, expect, it } from 'vitest';
import type { GithubInbox } from '../../src/web/github-route.ts';
import type { Health } from '../../src/web/health.ts';
import { anInstallation, apiRequest, call, healthy } from './installation.ts';

const stacks = '/api/v1/stacks';

describe('the web', () => {
  it('answers with security headers, whatever it answers', async () => {
    await using installation = anInstallation();
    const token = await installation.token('reader');

    for (const [method, path] of [
      ['GET', '/healthz'],
      ['GET', stacks],
      ['GET', '/nothing'],
      ['PUT', stacks],
      ['POST', '/api/github/webhooks'],
    ] as const) {
      const { headers } = await call(installation, method, path, { token });
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('content-security-policy'), path).toContain("default-src 'none'");
      expect(headers.get('cache-control'), path).toBe('no-store');
    }
  });

  it('asks for a token before it says what there is', async () => {
    await using installation = anInstallation();

    const nothing = await call(installation, 'GET', '/api/v1/nothing');
    const stack = await call(installation, 'GET', `${stacks}/acme/network-prod`);
    const wrong = await call(installation, 'GET', stacks, { token: 'slipway_wrong' });

    expect(nothing.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(nothing.headers.get('www-authenticate')).toBe('Bearer realm="slipway"');
    expect({ ...stack.body }).toEqual({ ...nothing.body });
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  it('says 404 for what is not there and 405 for what cannot be done with it', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');

    const nowhere = await call(installation, 'GET', '/api/v1/nothing', { token });
    const put = await call(installation, 'PUT', stacks, { token, body: {} });
    const health = await call(installation, 'POST', '/healthz');

    expect(nowhere.body).toMatchObject({ status: 404, code: 'not-found', hint: expect.any(String) });
    expect(put.body).toMatchObject({ status: 405, code: 'method-not-allowed' });
    expect(put.headers.get('allow')).toBe('GET, POST');
    expect(health.status).toBe(405);
  });

  it('refuses query parameters that a route does not have, by name', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();

    for (const path of [`${stacks}?stat=FAILED&limit=1`, `${stacks}/acme/network-prod?stat=`]) {
      const refused = await call(installation, 'GET', path, { token });
      expect(refused.body, path).toMatchObject({
        status: 422,
        code: 'invalid-input',
        detail: 'stat: no such query parameter',
        errors: [{ path: 'stat', message: 'no such query parameter' }],
      });
    }
    expect((await call(installation, 'GET', `${stacks}?limit=1`, { token })).status).toBe(200);
    expect((await call(installation, 'GET', '/api/v1/nothing?x=1', { token })).status).toBe(404);
  });

  it('names unknown fields of a body, at any depth', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev', pass: 'x' } };
    const body = { name: 'B', repository: 'acme/infra', vendor, autoDeploy: true, hooks: { before: [] } };

    const refused = await call(installation, 'POST', stacks, { token, body });
    const { autoDeploy, hooks, ...rest } = body;
    const deep = await call(installation, 'POST', stacks, { token, body: rest });

    const paths = ({ errors }: { errors: { path: string }[] }) => errors.map(({ path }) => path).sort();
    expect([refused.status, deep.status]).toEqual([422, 422]);
    expect(paths(refused.body)).toEqual(['autoDeploy', 'hooks.before']);
    expect(paths(deep.body)).toEqual(['vendor.pulumi.pass']);
  });

  it('has no modules for Pulumi', async () => {
    await using installation = anInstallation();

    const refused = await call(installation, 'POST', '/api/v1/modules', {
      token: await installation.token('admin'),
      body: { anything: true },
    });

    expect(refused.body).toMatchObject({
      status: 422,
      code: 'modules-unavailable',
      detail: 'module CI/CD is not available for Pulumi',
    });
  });

  it.each([
    ['another type', 'text/plain', '{}', 415, 'unsupported-media-type'],
    ['no type', '', '{}', 415, 'unsupported-media-type'],
    ['a form', 'application/x-www-form-urlencoded', 'name=a', 415, 'unsupported-media-type'],
    ['broken JSON', 'application/json', '{"name":', 400, 'not-json'],
    ['bytes that are no text', 'application/json', Uint8Array.of(0x22, 0xff, 0x22), 400, 'not-json'],
    ['a list', 'application/json; charset=utf-8', '[]', 422, 'invalid-input'],
    ['nothing', 'application/json', '', 422, 'invalid-input'],
  ])('refuses a body of %s', async (_, contentType, body, status, code) => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    const request = new Request(`http://slipway.test${stacks}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
      body: Buffer.from(body),
    });

    const response = await installation.web.fetch(request);

    expect(await response.json()).toMatchObject({ status, code });
  });

  it('reads no more than a mebibyte of JSON', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const init = { method: 'POST', body: endless, duplex: 'half' as const };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

    const response = await installation.web.fetch(
      new Request(`http://slipway.test${stacks}`, { ...init, headers }),
    );

    expect(await response.json()).toMatchObject({ status: 413, code: 'payload-too-large' });
    expect(sent).toBeLessThan(2 * 1024 * 1024);
  });

  it('keeps what went wrong inside to itself, and in the log', async () => {
    await using installation = anInstallation({
      events: {
        read: () => Promise.reject(new Error('the disk of db7.internal is on fire')),
        removedUpTo: async () => 0,
      },
    });

    const failed = await call(installation, 'GET', '/api/v1/events', {
      token: await installation.token('reader'),
    });

    expect(failed.body).toMatchObject({ status: 500, code: 'internal-error', errorId: expect.any(String) });
    expect(failed.text).not.toContain('db7');
    expect(installation.logged.at(-1)).toMatchObject({
      errorId: failed.body.errorId,
      err: { message: 'the disk of db7.internal is on fire' },
    });
  });

  it('takes the actor of an in-process call for granted, and of no request', async () => {
    await using installation = anInstallation();
    const request = () => {
      const made = apiRequest('GET', stacks);
      for (const name of ['actor', 'x-actor', 'x-slipway-actor'])
        made.headers.set(name, '{"kind":"operator"}');
      return made;
    };

    const inside = await installation.web.fetchAs({ kind: 'operator' }, request());
    const outside = await installation.web.fetch(request());

    expect([inside.status, outside.status]).toEqual([200, 401]);
  });
});

describe('/readyz', () => {
  const broken: Health = {
    status: 'unready',
    checks: {
      ...healthy.checks,
      sandbox: { ok: false, detail: '/usr/bin/bwrap is missing', hint: 'Install it.' },
    },
  };

  it('says 503 while no run can be executed, with details for administrators only', async () => {
    await using installation = anInstallation({ health: async () => broken });
    const [admin, account] = [await installation.token('admin'), await installation.token('admin', 'acme')];

    const anybody = await call(installation, 'GET', '/readyz');
    const seen = await call(installation, 'GET', '/readyz', { token: admin });
    const limited = await call(installation, 'GET', '/readyz', { token: account });

    expect(anybody.status).toBe(503);
    expect(anybody.body).toEqual({
      status: 'unready',
      checks: { database: { ok: true }, disk: { ok: true }, sandbox: { ok: false }, tools: { ok: true } },
    });
    expect(seen.body).toEqual(broken);
    expect(limited.body).toEqual(anybody.body);
  });

  it('says 200 when all is well', async () => {
    await using installation = anInstallation();

    expect(await call(installation, 'GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready' },
    });
    expect(await call(installation, 'GET', '/healthz')).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
  });
});

describe("GitHub's deliveries", () => {
  function anInbox(answer: Awaited<ReturnType<GithubInbox['receive']>>) {
    const received: Parameters<GithubInbox['receive']>[0][] = [];
    const github: GithubInbox = {
      maxBodyBytes: 1000,
      receive: async (request) => {
        received.push(request);
        return answer;
      },
    };
    return { github, received };
  }

  it('reach the inbox as they came, byte by byte', async () => {
    const { github, received } = anInbox({ status: 202, problem: null });
    await using installation = anInstallation({ github });
    const body = Uint8Array.of(0x7b, 0xff, 0x00, 0x7d);
    const headers = { 'x-github-event': 'push' };

    const response = await installation.web.fetch(
      new Request('http://slipway.test/api/github/webhooks', { method: 'POST', headers, body }),
    );

    expect(response.status).toBe(202);
    expect(received[0]?.headers.get('X-GitHub-Event')).toBe('push');
    expect([...(received[0]?.body ?? [])]).toEqual([...body]);
  });

  it('are answered as the inbox says', async () => {
    const refusal = { code: 'signature-invalid', message: 'not signed' };
    const { github, received } = anInbox({ status: 401, problem: refusal });
    await using installation = anInstallation({ github });

    const refused = await call(installation, 'POST', '/api/github/webhooks', { body: {} });
    const large = await call(installation, 'POST', '/api/github/webhooks', { body: 'x'.repeat(1001) });

    expect(refused.body).toMatchObject({ status: 401, code: 'signature-invalid', detail: 'not signed' });
    expect(large.headers.get('connection')).toBe('close');
    expect(received.map(({ body }) => body === 'too-large')).toEqual([false, true]);
  });
});

describe('a disk that is full', () => {
  it('is a 503 with what to do for whoever wants something stored, and one line in the log', async () => {
    await using installation = anInstallation();
    await installation.addStack();
    const token = await installation.token('admin');
    const { database } = installation;
    await database.write(async (tx) => {
      const raw = database.rawInside(tx);
      raw.pragma(`max_page_count = ${raw.pragma('page_count', { simple: true })}`);
    });

    const body = { value: 'x'.repeat(60_000) };
    const path = '/api/v1/stacks/acme/network-prod/environment';
    const put = (name: string) => call(installation, 'PUT', `${path}/${name}`, { token, body });
    const answers = [await put('ONE'), await put('TWO'), await put('THREE')];

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(answers[0]?.body).toMatchObject({
      code: 'storage-full',
      detail: 'The server has no room left to store anything.',
    });
    expect((await call(installation, 'GET', path, { token })).body.items).toEqual([]);
    expect(installation.logged.filter(({ level }) => Number(level) >= 40)).toHaveLength(1);
  });
});
