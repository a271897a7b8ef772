import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { AttemptExchange, ExchangedResponse } from '../../../src/webhooks/delivery-store.ts';
import type { Sender } from '../../../src/webhooks/sending/sender.ts';
import { closeServer, listen, startReceiver } from '../receiver.ts';
import { aMessage, aSender } from './messages.ts';

async function exchangeOf(sender: Sender, message: Parameters<Sender['send']>[0]): Promise<AttemptExchange> {
  const { exchange } = await sender.send(message);
  if (exchange === null) throw new Error('nothing was recorded');
  return exchange;
}

describe('the record of an exchange', () => {
  it('has what was sent and what came back, on a new connection and on a kept one', async () => {
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(201, { 'x-answer': 'yes' }).end('thanks, été'),
    );
    await using sender = aSender();
    const first = await exchangeOf(sender, aMessage(receiver.url));
    const second = await exchangeOf(sender, aMessage(receiver.url));
    const { host: _, connection: __, 'content-length': ___, ...sent } = receiver.received[0]?.headers ?? {};
    expect(first.request.headers).toEqual(sent);
    expect(first.response).toMatchObject({
      headers: { 'x-answer': 'yes' },
      ...{ body: 'thanks, été', bodyEncoding: 'utf8', bodyTruncated: false, location: null },
    });
    const dialled = { address: '127.0.0.1', port: receiver.port, tls: null };
    expect(first.connection).toEqual({ ...dialled, reused: false });
    expect(second.connection).toEqual({ ...dialled, reused: true });
    const aTime = expect.any(Number);
    expect(first.timingsMs).toEqual({ dns: null, connect: aTime, tls: null, firstByte: aTime, total: aTime });
    expect(second.timingsMs).toMatchObject({ dns: null, connect: null, tls: null, firstByte: aTime });
    expect(first.timingsMs.total).toBeGreaterThanOrEqual(first.timingsMs.firstByte ?? Number.NaN);
  });

  it('names the key and never shows the secret, nor the values of own headers', async () => {
    await using receiver = await startReceiver();
    await using sender = aSender();
    const headers = { authorization: 'Bearer hunter2', 'x-signature': 'forged', host: 'elsewhere' };
    const webhook = { secret: 'correct horse', headers };
    const exchange = await exchangeOf(sender, aMessage(receiver.url, { webhook }));
    expect(exchange.key).toBe('key:4104d36f');
    expect(exchange.request.headers['authorization']).toBe('***');
    expect(JSON.stringify(exchange)).not.toMatch(/correct horse|hunter2/);
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: 'Bearer hunter2',
      host: `127.0.0.1:${receiver.port}`,
      'x-signature': expect.stringMatching(/^sha1=/),
    });
  });

  it('tells where a redirect points', async () => {
    const location = 'https://169.254.169.254/latest';
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(307, { location }).end(),
    );
    await using sender = aSender();
    expect((await exchangeOf(sender, aMessage(receiver.url))).response?.location).toBe(location);
  });

  it.each<[string, Buffer, Partial<ExchangedResponse>]>([
    ['64 KiB of a long text', Buffer.from('é'.repeat(50_000)), { bodyEncoding: 'utf8', bodyTruncated: true }],
    ['what is no text', Buffer.from([0xff, 0xfe, 0]), { body: '//4A', bodyEncoding: 'base64' }],
    [
      'a bomb as it came',
      gzipSync(Buffer.alloc(10_000_000)),
      { bodyEncoding: 'base64', bodyTruncated: false },
    ],
  ])('keeps %s', async (_what, body, expected) => {
    await using receiver = await startReceiver(
      () => (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
    );
    await using sender = aSender();
    const { response } = await exchangeOf(sender, aMessage(receiver.url));
    expect(response).toMatchObject(expected);
    expect(Buffer.byteLength(response?.body ?? '', response?.bodyEncoding)).toBeLessThanOrEqual(65_536);
    expect(response?.body).not.toContain('\ufffd');
  });

  it('has no response of a connection that was refused, and none of a target that is', async () => {
    const receiver = await startReceiver();
    await receiver[Symbol.asyncDispose]();
    await using sender = aSender();
    const refused = await exchangeOf(sender, aMessage(receiver.url));
    expect(refused).toMatchObject({ response: null, connection: null, timingsMs: { connect: null } });
    const blocked = await exchangeOf(sender, aMessage('http://10.0.0.1/'));
    expect(blocked).toMatchObject({ response: null, connection: null, timingsMs: { connect: null } });
  });
});

describe('a kept connection that the receiver has closed', () => {
  /** Answers the first request of a connection, and treats the next as told. */
  async function startForgetful(second: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    let requests = 0;
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      let isFirst = true;
      socket.on('data', () => {
        requests += 1;
        if (!isFirst) second(socket);
        else socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        isFirst = false;
      });
    });
    const port = await listen(server);
    return {
      url: `http://127.0.0.1:${port}/`,
      get requests() {
        return requests;
      },
      [Symbol.asyncDispose]: () => closeServer(server, sockets),
    };
  }

  it('costs nothing: the request is sent once more, at once, on a new one', async () => {
    await using server = await startForgetful((socket) => void socket.resetAndDestroy());
    await using sender = aSender();
    await sender.send(aMessage(server.url));
    const result = await sender.send(aMessage(server.url));
    expect(result).toMatchObject({
      kind: 'delivered',
      exchange: { resentAtOnce: true, connection: { reused: false } },
    });
    expect(server.requests).toBe(3);
  });

  it('is a failure once a byte of an answer came', async () => {
    await using server = await startForgetful((socket) => {
      socket.write('HTTP/1.1 500', () => socket.resetAndDestroy());
    });
    await using sender = aSender();
    await sender.send(aMessage(server.url));
    expect(await sender.send(aMessage(server.url))).toMatchObject({
      kind: 'failed',
      error: 'reset',
      exchange: { resentAtOnce: false },
    });
  });

  it('is not used again after any change of the webhook', async () => {
    await using receiver = await startReceiver();
    await using sender = aSender();
    await sender.send(aMessage(receiver.url));
    await sender.send(aMessage(receiver.url));
    const kept = receiver.connections;
    await sender.send(aMessage(receiver.url, { webhook: { version: 2 } }));
    expect([kept, receiver.connections]).toEqual([1, 2]);
  });
});
