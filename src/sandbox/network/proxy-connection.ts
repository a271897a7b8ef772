/** One allowed connection of a run, from being dialled to its end, which is told once. */
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionEnd } from '../sandbox.ts';
import type { Route } from './proxy-destinations.ts';
import { askUpstream } from './proxy-upstream.ts';

/** What connections of one proxy have in common. */
export interface ConnectionParts {
  /** Ends the socket with the proxy. */
  readonly track: (socket: Socket) => Socket;
  readonly onEnd: (end: ConnectionEnd) => void;
  /** Without a byte: for a destination to be reached, and for the answer to who has nothing more to say. */
  readonly patienceMs: number;
}

/** For the last bytes on their way out, once nobody is there to take the answer. */
const abandonedMs = 5000;

type Ended = (end: Pick<ConnectionEnd, 'sentBytes' | 'receivedBytes' | 'failure'>) => void;

/** However often it is called, the first word counts. */
export function endOnce({ target }: Route, onEnd: ConnectionParts['onEnd']): Ended {
  let isTold = false;
  return (end) => {
    if (isTold) return;
    isTold = true;
    onEnd({ host: target.host, port: target.port, ...end });
  };
}

/** Why the first step of a route failed: short, and without the addresses that Node puts into its messages. */
export function dialFailure(error: unknown, { via }: Pick<Route, 'via'>): string {
  const { code, message } = (
    error instanceof AggregateError ? error.errors[0] : error
  ) as NodeJS.ErrnoException;
  const reason = code ?? message;
  return via === null ? reason : `the upstream proxy did not answer: ${reason}`;
}

const gaveUp = 'the command gave up';

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
    // Without an error when the proxy is closed.
    socket.once('close', () => reject(new Error(gaveUp)));
  });
}

/** Answers a CONNECT, and passes bytes until both sides have ended. */
export async function tunnel(
  route: Route,
  client: Duplex,
  head: Buffer,
  refuse: (message: string) => void,
  { track, onEnd, patienceMs }: ConnectionParts,
): Promise<void> {
  const ended = endOnce(route, onEnd);
  const fail = (failure: string) => {
    ended({ sentBytes: 0, receivedBytes: 0, failure });
    refuse(`${route.target.host}:${route.target.port} cannot be reached: ${failure}\n`);
  };
  if (client.destroyed) return fail(gaveUp);
  const socket = track(connect({ ...route.dial, allowHalfOpen: true }));
  const giveUp = () => socket.destroy(new Error(gaveUp));
  client.once('close', giveUp);
  socket.setTimeout(patienceMs, () => socket.destroy(new Error(`nothing for ${patienceMs / 1000} s`)));
  const { via } = route;
  try {
    await connected(socket);
  } catch (error) {
    return fail(dialFailure(error, route));
  }
  let first: Buffer = Buffer.alloc(0);
  try {
    if (via !== null) first = await askUpstream(socket, via.proxy, via.authority);
  } catch (error) {
    socket.destroy();
    return fail(error instanceof Error ? error.message : String(error));
  }
  client.off('close', giveUp);
  // What was said to an upstream proxy is none of the command's.
  const before = { sent: socket.bytesWritten, received: socket.bytesRead - first.length };
  const end = () =>
    ended({
      sentBytes: socket.bytesWritten - before.sent,
      receivedBytes: socket.bytesRead - before.received,
      failure: null,
    });

  socket.setTimeout(0);
  // Without an error the pipes end both sides, once what is under way has arrived.
  socket.once('error', () => client.destroy());
  socket.once('close', end);
  client.once('error', () => socket.destroy());
  client.once('end', () => socket.setTimeout(patienceMs));
  client.once('close', () => {
    end();
    socket.end();
    // Nobody reads it any more, and unread its end would not be seen.
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), abandonedMs);
    socket.once('close', () => clearTimeout(timer));
  });
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  client.write(first);
  if (head.length > 0) socket.write(head);
  socket.pipe(client);
  client.pipe(socket);
}
