/** Plain http through the proxy of a run: one connection for each request. */
import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
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
  const upstream = request({
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
  const end = (failure: string | null) => {
    const { bytesWritten = 0, bytesRead = 0 } = upstream.socket ?? {};
    ended({ sentBytes: failure ? 0 : bytesWritten, receivedBytes: failure ? 0 : bytesRead, failure });
  };
  const refuse = (failure: string) => {
    if (outgoing.headersSent) {
      outgoing.destroy();
      return;
    }
    const message = `${target.host}:${target.port} cannot be reached: ${failure}\n`;
    outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(message);
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
    outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
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

/** Of the hop between tool and proxy only (RFC 9110 §7.6.1). */
const hopHeaders = ['proxy-connection', 'proxy-authorization', 'connection', 'keep-alive', 'te', 'upgrade'];

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.includes(name)));
}
