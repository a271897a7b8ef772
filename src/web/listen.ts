import { createServer } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from '../logger.ts';
import { UserError } from '../user-error.ts';
import { problem } from './problem.ts';
import { addSecurityHeaders } from './security-headers.ts';
import type { Web } from './server.ts';

export interface Listening extends AsyncDisposable {
  /** Where it can be reached from this host, without a trailing slash. */
  readonly url: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly logger: Logger;
  /** How long answers under way may take after the server was told to stop. */
  readonly graceMs?: number;
}

const defaultGraceMs = 5000;
/** A delivery of 25 MB over a slow line takes its time; a sender that stalls must not stay for ever. */
const requestTimeoutMs = 60_000;

/** Rejects with `cannot-listen`. */
export async function listen(web: Web, options: ListenOptions): Promise<Listening> {
  const { host, port, logger } = options;
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: 20_000, keepAliveTimeout: 10_000 },
    // Nothing but the request and its peer goes on: an actor can be given in this process only.
    getRequestListener((request, { incoming }) => web.fetch(request, incoming.socket.remoteAddress), {
      overrideGlobalObjects: false,
      hostname: 'localhost',
      errorHandler: (error) => unreadable(error, logger),
    }),
  );

  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is taken' : (cause.code ?? cause.message);
      const hint = 'Set HOST and PORT to an address that is free.';
      reject(new UserError('cannot-listen', `Cannot listen on ${host}:${port}: ${why}`, { hint, cause }));
    });
    server.listen(port, host, resolve);
  });

  return {
    url: urlOf(server.address() as AddressInfo),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      web.endStreams();
      // A kept connection whose answer ends only now is not closed by itself; it would hold until its time-out.
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      const limit = setTimeout(() => server.closeAllConnections(), options.graceMs ?? defaultGraceMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(limit);
    },
  };
}

/** What does not even make a request: a wrong target or Host header. */
function unreadable(error: unknown, logger: Logger): Response {
  logger.debug({ err: error }, 'a request could not be read');
  const response = problem('malformed-request', { detail: 'The request line or Host header is not valid.' });
  addSecurityHeaders(response.headers);
  return response;
}

function urlOf({ address, port }: AddressInfo): string {
  // The wildcard addresses can be listened on but not visited.
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
