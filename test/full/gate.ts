/**
 * Stands between the server and GitHub and forwards what both say, save for requests that a test has it hold: the
 * server then waits for an answer for as long as the test needs it to be exactly there.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Gate extends AsyncDisposable {
  /** For GHE_HOST. */
  readonly host: string;
  /** Until this is called, everybody waits. */
  openTo(url: string): void;
  /** From now on requests whose first line has this text are not answered. */
  hold(text: string): void;
  /** How many requests with this text are waiting. */
  held(text: string): number;
  /** Nothing is held any more; who waited is cut off. */
  release(): void;
}

export async function startGate(): Promise<Gate> {
  const target = Promise.withResolvers<URL>();
  const sockets = new Set<Socket>();
  const waiting = new Map<Socket, string>();
  let texts: string[] = [];

  function keep(socket: Socket, other?: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      waiting.delete(socket);
      other?.destroy();
    });
  }

  async function forward(client: Socket): Promise<void> {
    const { hostname, port } = await target.promise;
    const upstream = connect(Number(port), hostname);
    keep(client, upstream);
    keep(upstream, client);
    client.on('data', (chunk: Buffer) => {
      const text = texts.find((each) => chunk.toString('latin1').split('\r\n')[0]?.includes(each));
      if (text !== undefined) waiting.set(client, text);
      if (!waiting.has(client)) upstream.write(chunk);
    });
    client.on('end', () => upstream.end());
    upstream.pipe(client);
  }

  const server = createServer((client) => void forward(client));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the gate has no port');

  return {
    host: `127.0.0.1:${address.port}`,
    openTo: (url) => target.resolve(new URL(url)),
    hold(text) {
      texts.push(text);
    },
    held: (text) => [...waiting.values()].filter((each) => each === text).length,
    release() {
      texts = [];
      for (const client of waiting.keys()) client.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
