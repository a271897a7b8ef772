import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that knows no token, and a proxy that lets nobody through. */
export async function refuseEverything(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((_, response) => {
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end('{"code":401,"message":"Unauthorized"}');
  });
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
