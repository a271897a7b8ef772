/**
 * The only way out of a sandbox: an HTTP proxy that the commands of a half share, on a Unix socket that the forwarder of
 * their network reaches (network.ts).
 *
 * Each connection is resolved once, judged (proxy-rules.ts), and dialled at the address that was judged, so that a
 * name which answers differently the second time gains nothing. It tunnels (CONNECT) and forwards plain http;
 * it does not look into what passes.
 */
import { chmod, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ConnectionDecision, ConnectionEnd, NetworkAccess } from '../sandbox.ts';
import { type ConnectionParts, tunnel } from './proxy-connection.ts';
import { createDestinations, type Resolve, type Target } from './proxy-destinations.ts';
import { forward } from './proxy-forward.ts';
import type { UpstreamProxy } from './proxy-upstream.ts';

export interface ProxyOptions {
  readonly access: Exclude<NetworkAccess, { mode: 'none' }>;
  /** Server-owned; a folder for the socket is made in it. */
  readonly directory: string;
  readonly onConnection?: ((connection: ConnectionDecision) => void) | undefined;
  readonly onConnectionEnd?: ((end: ConnectionEnd) => void) | undefined;
  /** What everything goes through; null or left out: destinations are dialled from here. */
  readonly upstream?: UpstreamProxy | null | undefined;
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
/** With those to destinations, which outlive who has gone without a word by some seconds. Each takes a descriptor of the server. */
const maxSockets = 4 * maxConnections;
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
    upstream: options.upstream ?? null,
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  });
  const sockets = new Set<Duplex>();
  const track = <T extends Duplex>(socket: T): T => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A connection that breaks ends; there is nobody to tell.
    socket.on('error', () => socket.destroy());
    return socket;
  };

  const parts: ConnectionParts = {
    track,
    onEnd: options.onConnectionEnd ?? (() => {}),
    patienceMs: options.patienceMs ?? defaultPatienceMs,
  };

  /** Clients that wait for an answer. */
  const asking = new WeakSet<Socket>();
  const server = createServer((incoming, outgoing) => {
    const client = incoming.socket;
    // Whoever asks on without waiting would have any number of lookups and connections under way, by a single connection.
    if (asking.has(client)) {
      client.destroy();
      return;
    }
    asking.add(client);
    outgoing.once('finish', () => asking.delete(client));
    const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : null;
    // The answer to TRACE is what was asked, and an upstream proxy was told its credentials.
    const isPlain = url?.protocol === 'http:' && incoming.method !== 'TRACE';
    const target = isPlain ? parseAuthority(url.host, 80) : null;
    const answer = async () => {
      const found = url === null || target === null ? badRequest : await destinations.find(target);
      if (url !== null && !('status' in found)) forward(found, url, incoming, outgoing, parts);
      else if ('status' in found)
        outgoing.writeHead(found.status, { 'content-type': 'text/plain' }).end(found.message);
    };
    void answer().catch(() => outgoing.destroy());
  });
  const clients = new Set<Socket>();
  server.on('connection', (client) => {
    track(client);
    if (sockets.size > maxSockets) {
      client.destroy();
      return;
    }
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
    const target = parseAuthority(incoming.url ?? '', null);
    const answer = async () => {
      const found = target === null ? badRequest : await destinations.find(target);
      if ('status' in found) reply(client, found.status, found.message);
      else await tunnel(found, client, head, (message) => reply(client, 502, message), parts);
    };
    void answer().catch(() => client.destroy());
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
      const ended = [...sockets].map(
        (open) => new Promise((resolve) => open.destroy().once('close', resolve)),
      );
      await Promise.all([closed, ...ended]);
      await handle.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function reply(client: Duplex, status: number, message: string): void {
  const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`;
  client.end(`HTTP/1.1 ${status} Slipway\r\n${headers}\r\n\r\n${message}`);
}

const badRequest = { status: 400, message: 'this proxy takes CONNECT host:port and http:// addresses\n' };

/** RFC 1035, with the dot of a fully qualified name. */
const maxNameLength = 254;

function parseAuthority(authority: string, defaultPort: number | null): Target | null {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([\w-]+(?:\.[\w-]+)*\.?))(?::(\d{1,5}))?$/.exec(authority);
  const host = parts?.[1] ?? parts?.[2];
  const port = parts?.[3] === undefined ? defaultPort : Number(parts[3]);
  if (host === undefined || host.length > maxNameLength || port === null) return null;
  if (port < 1 || port > 65_535) return null;
  // The dot of a fully qualified name, else `example.com.` would pass lists that name `example.com`.
  return { host: host.toLowerCase().replace(/\.$/, ''), port };
}
