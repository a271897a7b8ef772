/** Plain http through the proxy of a run: one connection for each request. */
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import { type ConnectionParts, dialFailure, endOnce } from './proxy-connection.ts';
import type { Route } from './proxy-destinations.ts';
import { upstreamHeaders, upstreamRefusal } from './proxy-upstream.ts';

/** Passes the request on, which was made for `url`, and its answer back. */
export function forward(
  route: Route,
  url: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { track, onEnd, patienceMs }: ConnectionParts,
): void {
  const { dial, via, target } = route;
  const ended = endOnce(route, onEnd);
  const path = `${url.pathname}${url.search}`;
  const refuse = (failure: string) => {
    if (outgoing.headersSent) {
      outgoing.destroy();
      return;
    }
    const message = `${target.host}:${target.port} cannot be reached: ${failure}\n`;
    outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(message);
  };
  let upstream: ClientRequest;
  try {
    upstream = request({
      ...dial,
      method: incoming.method,
      path: via === null ? path : `http://${via.authority}${path}`,
      headers: {
        ...endToEnd(incoming.headers),
        host: url.host,
        ...(via && upstreamHeaders(via.proxy)),
      },
      agent: false,
    });
  } catch (error) {
    const failure = `the request cannot be passed on: ${dialFailure(error, { via: null })}`;
    ended({ sentBytes: 0, receivedBytes: 0, failure });
    refuse(failure);
    return;
  }
  const end = (failure: string | null) => {
    const { bytesWritten = 0, bytesRead = 0 } = upstream.socket ?? {};
    ended({ sentBytes: failure ? 0 : bytesWritten, receivedBytes: failure ? 0 : bytesRead, failure });
  };

  let isConnected = false;
  upstream.once('socket', (socket) => {
    track(socket).setTimeout(patienceMs, () =>
      upstream.destroy(new Error(`nothing for ${patienceMs / 1000} s`)),
    );
    socket.once('connect', () => {
      isConnected = true;
      socket.setTimeout(0);
    });
  });
  upstream.on('response', (answer) => {
    // It means us, not the command, which could only ask for what it must not have.
    if (via !== null && answer.statusCode === 407) {
      answer.resume();
      const failure = upstreamRefusal(answer, Buffer.alloc(0), via.proxy);
      end(failure);
      refuse(failure);
      return;
    }
    try {
      outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    } catch (error) {
      // Node reads answers that it does not write, such as a status of 000. Thrown from here it would end the server.
      end(null);
      refuse(`the answer cannot be passed on: ${dialFailure(error, { via: null })}`);
      upstream.destroy();
      return;
    }
    // An answer that breaks off breaks off for the command, too.
    pipeline(answer, outgoing, () => {});
  });
  upstream.on('error', (error) => {
    const failure = dialFailure(error, route);
    end(isConnected ? null : failure);
    refuse(failure);
  });
  upstream.once('close', () => end(null));
  outgoing.once('close', () => {
    end(isConnected ? null : 'the command gave up');
    upstream.destroy();
  });
  if (outgoing.destroyed) upstream.destroy();
  incoming.pipe(upstream);
}

/**
 * Of the hop between tool and proxy only (RFC 9110 §7.6.1). Trailers are not passed on, and Node throws, later than here, for who
 * announces them of what is not sent in chunks.
 */
const hopHeaders: readonly string[] = [
  ...['proxy-connection', 'proxy-authorization', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'],
];

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.includes(name)));
}
