/**
 * The only way out of a sandbox: an HTTP proxy that the commands of a half share, on a Unix socket that the forwarder of
 * their network reaches (network.ts).
 *
 * Each connection is resolved once, judged (proxy-rules.ts), and dialled at the address that was judged, so that a
 * name which answers differently the second time gains nothing. It tunnels (CONNECT) and forwards plain http;
 * it does not look into what passes.
 */
import { chmod, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createDestinations, type Destinations, type Resolve, type Target } from './proxy-destinations.ts';
import type { ConnectionDecision, NetworkAccess } from './sandbox.ts';

export interface ProxyOptions {
  readonly access: Exclude<NetworkAccess, { mode: 'none' }>;
  /** Server-owned; a folder for the socket is made in it. */
  readonly directory: string;
  readonly onConnection?: ((connection: ConnectionDecision) => void) | undefined;
  /** Only tests have another than the system's. */
  readonly resolve?: Resolve | undefined;
  /** Only tests have less than half a minute, see below. */
  readonly patienceMs?: number | undefined;
}

export interface RunProxy extends AsyncDisposable {
  readonly socket: string;
}

/**
 * npm opens 15 at once, `go mod download` some dozens. One more takes the place of one that a command has let go of, so
 * that no command uses up those of the next; where there is none it is closed.
 */
const maxConnections = 256;
/** For the last bytes on their way out, once nobody is there to take the answer. */
const abandonedMs = 5000;
/**
 * Without a byte: for a destination to be reached, and for the answer to who has nothing more to say. A command that has
 * ended looks the same as the latter.
 */
const defaultPatienceMs = 30_000;

export async function startProxy(options: ProxyOptions): Promise<RunProxy> {
  const destinations = createDestinations({
    access: options.access,
    onConnection: options.onConnection ?? (() => {}),
    ...(options.resolve && { resolve: options.resolve }),
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  });
  const { patienceMs = defaultPatienceMs } = options;
  const sockets = new Set<Duplex>();
  const track = <T extends Duplex>(socket: T): T => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A connection that breaks ends; there is nobody to tell.
    socket.on('error', () => socket.destroy());
    return socket;
  };

  const server = createServer((incoming, outgoing) => {
    void forward(incoming, outgoing, destinations).catch(() => outgoing.destroy());
  });
  const clients = new Set<Socket>();
  server.on('connection', (client) => {
    track(client);
    if (clients.size >= maxConnections) {
      const old = clients.values().find(({ readableEnded, destroyed }) => readableEnded || destroyed);
      if (old === undefined) {
        client.destroy();
        return;
      }
      clients.delete(old);
      old.destroy();
    }
    clients.add(client);
    client.once('close', () => clients.delete(client));
  });
  server.on('connect', (incoming, client, head) => {
    void tunnel(incoming, client, head, destinations, track, patienceMs).catch(() => client.destroy());
  });

  await mkdir(options.directory, { recursive: true });
  const folder = await mkdtemp(join(options.directory, 'proxy-'));
  // A socket's path may have 107 bytes; through the descriptor of its folder every path is short.
  // The descriptor stays open as long as the server: on closing, Node removes the socket by the same path.
  const handle = await open(folder);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(`/proc/self/fd/${handle.fd}/socket`, resolve);
  });
  const socket = join(folder, 'socket');
  // Connecting takes write permission, and the run may have a user of its own. Its folder stays closed to others.
  await chmod(socket, 0o666);
  return {
    socket,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      for (const open of sockets) open.destroy();
      await closed;
      await handle.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function tunnel(
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  destinations: Destinations,
  track: (socket: Socket) => Socket,
  patienceMs: number,
): Promise<void> {
  const target = parseAuthority(incoming.url ?? '', null);
  const found = target === null ? badRequest : await destinations.find(target);
  if ('status' in found) {
    reply(client, found.status, found.message);
    return;
  }
  const upstream = track(connect({ ...found, allowHalfOpen: true }));
  let isConnected = false;
  upstream.setTimeout(patienceMs, () => upstream.destroy(new Error(`nothing for ${patienceMs / 1000} s`)));
  upstream.once('connect', () => {
    isConnected = true;
    upstream.setTimeout(0);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  // Without an error the pipes end both sides, once what is under way has arrived.
  upstream.once('error', (error) => {
    if (isConnected) client.destroy();
    else reply(client, 502, `${found.host}:${found.port} cannot be reached: ${error.message}\n`);
  });
  client.once('error', () => upstream.destroy());
  client.once('end', () => upstream.setTimeout(patienceMs));
  client.once('close', () => {
    upstream.end();
    // Nobody reads it any more, and unread its end would not be seen.
    upstream.resume();
    const timer = setTimeout(() => upstream.destroy(), abandonedMs);
    upstream.once('close', () => clearTimeout(timer));
  });
}

function reply(client: Duplex, status: number, message: string): void {
  const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`;
  client.end(`HTTP/1.1 ${status} Slipway\r\n${headers}\r\n\r\n${message}`);
}

/** Of the hop between tool and proxy only (RFC 9110 §7.6.1). */
const hopHeaders = ['proxy-connection', 'proxy-authorization', 'connection', 'keep-alive', 'te', 'upgrade'];

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.includes(name)));
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  destinations: Destinations,
): Promise<void> {
  const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : null;
  const target = url?.protocol === 'http:' ? parseAuthority(url.host, 80) : null;
  const found = url === null || target === null ? badRequest : await destinations.find(target);
  if ('status' in found) {
    outgoing.writeHead(found.status, { 'content-type': 'text/plain' }).end(found.message);
    return;
  }
  const upstream = request({
    ...found,
    method: incoming.method,
    path: `${url?.pathname ?? '/'}${url?.search ?? ''}`,
    headers: { ...endToEnd(incoming.headers), host: url?.host ?? '' },
    agent: false,
  });
  upstream.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    answer.pipe(outgoing);
  });
  upstream.on('error', (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(`${error.message}\n`);
  });
  outgoing.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

const badRequest = { status: 400, message: 'this proxy takes CONNECT host:port and http:// addresses\n' };

function parseAuthority(authority: string, defaultPort: number | null): Target | null {
  const parts = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:@/\s[\]]+))(?::(\d{1,5}))?$/.exec(authority);
  const host = parts?.[1] ?? parts?.[2];
  const port = parts?.[3] === undefined ? defaultPort : Number(parts[3]);
  if (host === undefined || port === null || port < 1 || port > 65_535) return null;
  // The dot of a fully qualified name, else `example.com.` would pass lists that name `example.com`.
  return { host: host.toLowerCase().replace(/\.$/, ''), port };
}
