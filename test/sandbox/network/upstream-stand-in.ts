/** A proxy as closed networks have one: CONNECT and plain http, with credentials, and a record of what it was asked. */
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

interface Asked {
  /** `CONNECT host:port`, or the method and the address in full. */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
}

export interface UpstreamStandIn extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly Asked[];
}

interface StandInOptions {
  /** Where everything leads, whatever it is asked for: a port of loopback. */
  readonly leadsTo: number;
  /** What it wants to see; left out: anybody may ask. */
  readonly authorization?: string;
  /** Instead of a tunnel, written as it is; an empty text says nothing at all. */
  readonly answer?: string;
}

export async function startUpstream(options: StandInOptions): Promise<UpstreamStandIn> {
  const { leadsTo, authorization, answer } = options;
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  const isKnown = (headers: IncomingHttpHeaders) =>
    authorization === undefined || headers['proxy-authorization'] === authorization;

  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    asked.push({ line: `${method} ${url}`, headers });
    if (!isKnown(headers)) {
      outgoing.writeHead(407, { 'proxy-authenticate': 'Basic realm="stand-in"' }).end();
      return;
    }
    const { pathname, search } = new URL(url);
    const onward = request(
      { host: '127.0.0.1', port: leadsTo, method, path: `${pathname}${search}`, headers, agent: false },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      },
    );
    incoming.pipe(onward);
  });
  server.on('connection', track);
  server.on('connect', ({ url = '', headers }, client: Socket, head: Buffer) => {
    asked.push({ line: `CONNECT ${url}`, headers });
    if (answer !== undefined) {
      if (answer !== '') client.end(answer);
      return;
    }
    if (!isKnown(headers)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const onward = track(connect({ port: leadsTo, host: '127.0.0.1', allowHalfOpen: true }));
    onward.once('connect', () => {
      client.write('HTTP/1.1 200 OK\r\nx-stand-in: yes\r\n\r\n');
      onward.write(head);
      client.pipe(onward);
      onward.pipe(client);
    });
    onward.once('close', () => client.destroy());
    client.once('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
