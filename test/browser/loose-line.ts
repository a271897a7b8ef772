import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to the server that can be cut and mended: what a browser sees of a network that comes and goes. */
export interface LooseLine extends AsyncDisposable {
  readonly url: string;
  /** Ends what is open, and whatever comes until it is mended. */
  cut(): void;
  mend(): void;
  /** How many came while it was cut. */
  readonly refused: number;
}

export async function startLooseLine(serverUrl: string): Promise<LooseLine> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  let refused = 0;

  const line = createServer((client) => {
    if (isCut) {
      refused += 1;
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  const address = line.address();
  if (address === null || typeof address === 'string') throw new Error('the line has no port');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    url: `http://127.0.0.1:${address.port}`,
    get refused() {
      return refused;
    },
    cut() {
      isCut = true;
      cutAll();
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(line, 'close');
      line.close();
      cutAll();
      await closed;
    },
  };
}
