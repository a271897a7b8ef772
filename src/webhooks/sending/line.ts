import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type buildConnector, Client } from 'undici';
import { toUnixSeconds } from '../../clock.ts';
import { guardedConnector } from '../targets/connector.ts';
import type { TargetGuard } from '../targets/target-guard.ts';

/** A connection, and how it came about. Times are those of performance.now(), null before they happened. */
export interface Connection {
  readonly startedAt: number;
  resolvedAt: number | null;
  connectedAt: number | null;
  securedAt: number | null;
  address: string | null;
  port: number | null;
  tls: { readonly protocol: string; readonly validTo: number | null } | null;
  /** Requests that were written to it. */
  requests: number;
}

/**
 * At most one socket to one origin, opened when a request needs it and kept for the next. It carries one request at
 * a time, so that what happens to the socket happened to that request.
 */
export interface Line {
  readonly client: Client;
  /** The present socket, or the one that is being opened or failed to open; null before the first. */
  readonly connection: Connection | null;
}

export interface LineParts {
  readonly guard: TargetGuard;
  readonly authorities: readonly string[] | null;
}

export function openLine(url: URL, { guard, authorities }: LineParts): Line {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  let connection: Connection | null = null;

  const watched: TargetGuard = {
    ...guard,
    async resolve(hostname, atPort) {
      const opening = connection;
      const addresses = await guard.resolve(hostname, atPort);
      if (opening !== null) opening.resolvedAt = performance.now();
      return addresses;
    },
  };
  const open = guardedConnector(watched, port, authorities, (socket) => {
    if (connection !== null) watch(socket, connection);
  });
  const connect: buildConnector.connector = (options, callback) => {
    connection = newConnection();
    open(options, callback);
  };
  const client = new Client(url.origin, {
    connect,
    pipelining: 1,
    allowH2: false,
    keepAliveMaxTimeout: 30_000,
    // An exchange has timers of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    client,
    get connection() {
      return connection;
    },
  };
}

function newConnection(): Connection {
  return {
    startedAt: performance.now(),
    resolvedAt: null,
    connectedAt: null,
    securedAt: null,
    address: null,
    port: null,
    tls: null,
    requests: 0,
  };
}

function watch(socket: Socket, connection: Connection): void {
  socket.once('connect', () => {
    connection.connectedAt = performance.now();
    connection.address = socket.remoteAddress ?? null;
    connection.port = socket.remotePort ?? null;
  });
  if (!(socket instanceof TLSSocket)) return;
  socket.once('secureConnect', () => {
    connection.securedAt = performance.now();
    connection.tls = { protocol: socket.getProtocol() ?? '', validTo: validTo(socket) };
  });
}

/** Unix seconds; null when a session was resumed without showing the certificate again. */
function validTo(socket: TLSSocket): number | null {
  const certificate: X509Certificate | undefined = socket.getPeerX509Certificate();
  return certificate === undefined ? null : toUnixSeconds(certificate.validToDate.getTime());
}
