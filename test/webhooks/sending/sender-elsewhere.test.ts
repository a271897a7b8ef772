import { describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../receiver.ts';
import { aMessage, aSender } from './messages.ts';

/** Nobody else's receiver: whatever an answer says, it stays without connections. Allowed, so only we keep away. */
async function withElsewhere(): Promise<{ receiver: Receiver; elsewhere: Receiver } & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const receiver = opening.use(await startReceiver());
  const elsewhere = opening.use(await startReceiver());
  const opened = opening.move();
  return { receiver, elsewhere, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe('the sender goes where the endpoint says, and nowhere else', () => {
  const locations: Readonly<Record<string, (receiver: Receiver, elsewhere: Receiver) => string>> = {
    'to a metadata service': () => 'http://169.254.169.254/latest/meta-data/',
    'to a file': () => 'file:///etc/passwd',
    'to itself': (receiver) => receiver.url,
    'to another path': () => '/other',
    'to another host without a scheme': (_, elsewhere) => `//127.0.0.1:${elsewhere.port}/`,
    'to another receiver': (_, elsewhere) => elsewhere.url,
    nowhere: () => '',
  };
  const statuses = [300, 301, 302, 303, 307, 308];
  const cases = Object.keys(locations).flatMap((what) => statuses.map((status) => ({ what, status })));

  it.each(cases)('redirected $what with $status', async ({ what, status }) => {
    await using world = await withElsewhere();
    const location = locations[what]?.(world.receiver, world.elsewhere) ?? '';
    world.receiver.answer(() => (response) => void response.writeHead(status, { location }).end());
    await using sender = aSender();

    const result = await sender.send(aMessage(world.receiver.url));

    expect(result).toMatchObject({ kind: 'failed', error: 'status', statusCode: status });
    expect([world.receiver.received.length, world.elsewhere.connections]).toEqual([1, 0]);
  });

  it.each([
    ['Refresh', (port: number) => ({ refresh: `0; url=http://127.0.0.1:${port}/` })],
    [
      'Alt-Svc',
      (port: number) => ({ 'alt-svc': `h2="127.0.0.1:${port}", http/1.1="127.0.0.1:${port}"; ma=86400` }),
    ],
    ['Content-Location', (port: number) => ({ 'content-location': `http://127.0.0.1:${port}/` })],
    ['Link', (port: number) => ({ link: `<http://127.0.0.1:${port}/>; rel=preconnect` })],
  ])('told to by %s', async (_what, headers) => {
    await using world = await withElsewhere();
    const { receiver, elsewhere } = world;
    receiver.answer(
      () => (response) =>
        void response.writeHead(200, { ...headers(elsewhere.port), connection: 'close' }).end('ok'),
    );
    await using sender = aSender();

    for (let index = 0; index < 3; index += 1) {
      expect(await sender.send(aMessage(receiver.url))).toMatchObject({ kind: 'delivered' });
    }

    expect([receiver.received.length, elsewhere.connections]).toEqual([3, 0]);
  });

  it('told to by early hints', async () => {
    await using world = await withElsewhere();
    const { receiver, elsewhere } = world;
    receiver.answer(() => (response) => {
      response.writeEarlyHints({ link: `<${elsewhere.url}>; rel=preload` });
      response.writeHead(204).end();
    });
    await using sender = aSender();

    expect(await sender.send(aMessage(receiver.url))).toMatchObject({ kind: 'delivered' });
    expect(elsewhere.connections).toBe(0);
  });

  it('never over a connection that was kept for another endpoint', async () => {
    await using world = await withElsewhere();
    const { receiver, elsewhere } = world;
    await using sender = aSender();

    await sender.send(aMessage(elsewhere.url));
    await sender.send(aMessage(receiver.url));

    expect([receiver.received.length, elsewhere.received.length]).toEqual([1, 1]);
  });
});
