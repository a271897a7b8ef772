import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket, Server as TcpServer } from 'node:net';

/** What arrived, as a receiver sees it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly delivery: string;
  readonly attempt: number;
  readonly stateVersion: number;
}

type Answer = number | ((response: ServerResponse, socket: Socket, received: Received) => void);

/** A real HTTP server on a loopback address that does what a test scripts, and keeps everything it got. */
export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly received: readonly Received[];
  /** Sockets that were ever opened to it. */
  readonly connections: number;
  /** What to do from now on. A number is a status. */
  answer(how: (received: Received) => Answer): void;
}

export async function startReceiver(
  how: (received: Received) => Answer = () => 204,
  at: { readonly host?: string; readonly port?: number } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let decide = how;
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      received.push(one);
      const answer = decide(one);
      if (typeof answer === 'function') answer(response, request.socket, one);
      else response.writeHead(answer).end();
    });
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const { host = '127.0.0.1' } = at;
  const port = await listen(server, host, at.port);
  return {
    port,
    url: `http://${host}:${port}/hook`,
    received,
    get connections() {
      return connections;
    },
    answer(next) {
      decide = next;
    },
    async [Symbol.asyncDispose]() {
      await closeServer(server, sockets);
    },
  };
}

export async function listen(server: TcpServer, host = '127.0.0.1', port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

export async function closeServer(server: TcpServer, sockets: Iterable<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const headers = request.headers as Record<string, string>;
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers,
    rawHeaders: request.rawHeaders,
    body,
    delivery: headers['x-slipway-delivery'] ?? '',
    attempt: Number(headers['x-slipway-attempt']),
    stateVersion: versionIn(body),
  };
}

function versionIn(body: Buffer): number {
  try {
    return (JSON.parse(body.toString('utf8')) as { stateVersion: number }).stateVersion;
  } catch {
    return 0;
  }
}

/** Waits for evidence and gives back what was seen. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  isGood: (seen: T) => boolean,
  withinMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (isGood(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`not seen in ${withinMs} ms; last: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
