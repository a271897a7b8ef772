import { createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { closeServer, eventually, listen, startReceiver } from '../receiver.ts';
import { aMessage, aSender, loopback } from './messages.ts';

/** A server that speaks bytes, for what no HTTP server would say. */
async function startRawServer(
  talk: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => talk(socket));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      await closeServer(server, sockets);
    },
  };
}

/** Says something again and again until the other side has gone. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 5);
  socket.on('close', () => clearInterval(timer));
}

describe('the sender', () => {
  it('posts the bytes with the headers of the contract', async () => {
    await using receiver = await startReceiver();
    await using sender = aSender();
    const message = aMessage(`${receiver.url}?a=%7E&b=1`);
    expect(await sender.send(message)).toMatchObject({ kind: 'delivered', statusCode: 204 });
    const [received] = receiver.received;
    expect(received).toMatchObject({ method: 'POST', path: '/hook?a=%7E&b=1', body: message.body });
    expect(received?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-length': String(message.body.length),
      'content-type': 'application/json',
      'user-agent': 'Slipway/1.2.3',
      'accept-encoding': 'identity',
      'x-slipway-delivery': '01JDELIVERY',
      'x-slipway-attempt': '2',
      'x-signature': expect.stringMatching(/^sha1=[0-9a-f]{40}$/),
      'x-signature-256': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'webhook-id': '01JDELIVERY',
      'webhook-timestamp': '1795000000',
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('keeps no value of a custom header that the receiver repeats', async () => {
    const headers = { authorization: 'Bearer s3cr3t-t0ken', 'x-key': 'with "quotes" inside' };
    await using receiver = await startReceiver(({ headers: got }) => (response) => {
      const token = got['authorization']?.split(' ')[1] ?? '';
      response.writeHead(401, { 'x-got': token, location: `/login?for=${token}` });
      response.write(Buffer.from([0xff, 0xfe]));
      response.end(`${JSON.stringify(got)} as ${got['x-key']}`);
    });
    await using sender = aSender();
    const { exchange } = await sender.send(aMessage(receiver.url, { webhook: { headers } }));
    expect(receiver.received[0]?.headers).toMatchObject(headers);
    const body = Buffer.from(exchange?.response?.body ?? '', 'base64').toString('latin1');
    expect(exchange?.response).toMatchObject({ headers: { 'x-got': '***' }, location: '/login?for=***' });
    expect(body).toMatch(/"authorization":"\*\*\*".*"x-key":"\*\*\*".* as \*\*\*$/);
    expect(JSON.stringify(exchange) + body).not.toMatch(/s3cr3t|quotes/);
  });

  it.each([200, 201, 202, 204, 299])('takes %i for delivered', async (status) => {
    await using receiver = await startReceiver(() => status);
    await using sender = aSender();
    const result = await sender.send(aMessage(receiver.url));
    expect(result).toMatchObject({ kind: 'delivered', statusCode: status });
  });

  it.each([300, 304, 400, 401, 403, 404, 409, 410, 418, 429, 500, 502, 503, 599])(
    'takes %i for failed',
    async (status) => {
      await using receiver = await startReceiver(() => status);
      await using sender = aSender();
      expect(await sender.send(aMessage(receiver.url))).toMatchObject({
        kind: 'failed',
        error: 'status',
        statusCode: status,
        wantsNoMore: status === 410 ? 'The receiver answered 410 Gone.' : null,
      });
    },
  );

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
    await using target = await startReceiver();
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(status, { location: target.url }).end(),
    );
    await using sender = aSender();
    const result = await sender.send(aMessage(receiver.url));
    expect(result).toMatchObject({ kind: 'failed', error: 'status', statusCode: status });
    expect(target.connections).toBe(0);
  });

  it('passes on Retry-After', async () => {
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(429, { 'retry-after': '120' }).end(),
    );
    await using sender = aSender();
    const result = await sender.send(aMessage(receiver.url));
    expect(result).toMatchObject({ kind: 'failed', statusCode: 429, retryAfterMs: 120_000 });
  });

  it('uses connections again', async () => {
    await using receiver = await startReceiver();
    await using sender = aSender();
    for (let index = 0; index < 10; index += 1) await sender.send(aMessage(receiver.url));
    expect(receiver.received).toHaveLength(10);
    // The next request may come before the client has put the first connection back.
    expect(receiver.connections).toBeLessThan(3);
  });

  it('knows a refused connection', async () => {
    const receiver = await startReceiver();
    await receiver[Symbol.asyncDispose]();
    await using sender = aSender();
    const result = await sender.send(aMessage(receiver.url));
    expect(result).toMatchObject({ kind: 'failed', error: 'refused', detail: 'ECONNREFUSED' });
  });

  it('knows a connection that was reset', async () => {
    await using receiver = await startReceiver(() => (_response, socket) => void socket.resetAndDestroy());
    await using sender = aSender();
    expect(await sender.send(aMessage(receiver.url))).toMatchObject({
      kind: 'failed',
      error: 'reset',
    });
  });

  it('knows a name that does not resolve', async () => {
    const guard = createTargetGuard({
      allowed: parseAllowedTargets([]),
      resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
    });
    await using sender = aSender(guard);
    expect(await sender.send(aMessage('http://gone.example/'))).toMatchObject({
      kind: 'failed',
      error: 'dns',
      detail: 'ENOTFOUND',
    });
  });

  describe('gives up within its deadline', () => {
    const cases: Readonly<Record<string, (socket: Socket) => void>> = {
      'when nothing is answered': () => undefined,
      'when headers drip': (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'x: y\r\n');
      },
      'when it is told to wait for ever': (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    };
    it.each(Object.keys(cases))('%s', async (name) => {
      await using server = await startRawServer(cases[name] ?? (() => undefined));
      await using sender = aSender();
      const result = await sender.send(aMessage(server.url));
      expect(result).toMatchObject({ kind: 'failed', error: 'timeout', statusCode: null });
      expect(result.durationMs).toBeLessThan(2000);
    });

    it('when the name server is silent', async () => {
      const guard = createTargetGuard({
        allowed: parseAllowedTargets([]),
        resolve: () => new Promise(() => undefined),
      });
      await using sender = aSender(guard);
      const result = await sender.send(aMessage('http://black-hole.example/'));
      expect(result).toMatchObject({ kind: 'failed', error: 'timeout' });
    });
  });

  describe('has its answer with the status line', () => {
    const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n';
    const cases: Readonly<Record<string, (socket: Socket) => void>> = {
      'when the body drips': (socket) => {
        socket.write(ok);
        drip(socket, 'x');
      },
      'when the body is cut off': (socket) => void socket.end(`${ok}x`),
      'when the connection is reset behind it': (socket) => {
        socket.write(ok, () => socket.resetAndDestroy());
      },
      'when it comes after early hints': (socket) => {
        socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      },
    };
    it.each(Object.keys(cases))('%s', async (name) => {
      await using server = await startRawServer(cases[name] ?? (() => undefined));
      await using sender = aSender();
      const result = await sender.send(aMessage(server.url));
      expect(result).toMatchObject({ kind: 'delivered', statusCode: 200 });
      expect(result.durationMs).toBeLessThan(2000);
    });
  });

  it('reads no more of a body than it must, however fast it comes', async () => {
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n');
      drip(socket, 'x'.repeat(10_000));
    });
    await using sender = aSender(loopback, 30_000);
    const result = await sender.send(aMessage(server.url));
    expect(result).toMatchObject({ kind: 'delivered', statusCode: 200 });
    expect(result.durationMs).toBeLessThan(5000);
  });

  it.each([
    ['something else than HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a status that is none', 'HTTP/1.1 OK\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`],
  ])('fails on %s', async (_what, text) => {
    await using server = await startRawServer((socket) => void socket.write(text));
    await using sender = aSender();
    expect(await sender.send(aMessage(server.url))).toMatchObject({
      kind: 'failed',
      error: 'protocol',
    });
  });

  it('lets go when the process ends: what was not begun can be sent by the next', async () => {
    await using receiver = await startReceiver(() => () => undefined);
    const guard = createTargetGuard({
      allowed: parseAllowedTargets(['127.0.0.1']),
      resolve: () => new Promise(() => undefined),
    });
    await using sender = aSender(guard);
    const onItsWay = sender.send(aMessage(receiver.url));
    const resolving = sender.send(aMessage('http://slow.example/', { webhook: { id: 'other' } }));
    await eventually(
      () => receiver.received.length,
      (count) => count === 1,
    );
    sender.stop();
    expect(await resolving).toMatchObject({ kind: 'unsent' });
    expect(await sender.send(aMessage(receiver.url))).toMatchObject({ kind: 'unsent' });
    sender.giveUp();
    expect(await onItsWay).toMatchObject({ kind: 'aborted' });
  });
});
