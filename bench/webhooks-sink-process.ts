/**
 * A receiver in a process of its own that does as little as possible: answers 200 to every POST, but nothing to
 * those whose path begins with /hang. On request it tells how many came, and when the first of each delivery did.
 */
import { createServer, type Socket } from 'node:net';
import type { SinkRequest, SinkState } from './webhooks-sink.ts';

const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
let received = 0;
let isKeepingTimes = false;
const arrivals = new Map<string, number>();

function serve(socket: Socket): void {
  let rest: Buffer | null = null;
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    const data: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk]);
    rest = null;
    for (let from = 0; from < data.length; ) {
      const headEnd = data.indexOf('\r\n\r\n', from);
      const head = headEnd === -1 ? null : data.toString('latin1', from, headEnd + 2);
      const length = head === null ? 0 : Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (head === null || headEnd + 4 + length > data.length) {
        rest = data.subarray(from);
        return;
      }
      from = headEnd + 4 + length;
      arrived(socket, head);
    }
  });
}

function arrived(socket: Socket, head: string): void {
  if (isKeepingTimes) {
    const delivery = /x-slipway-delivery: (\S+)/i.exec(head)?.[1] ?? '';
    if (!arrivals.has(delivery)) arrivals.set(delivery, Number(process.hrtime.bigint()) / 1e6);
  }
  if (head.startsWith('POST /hang')) return;
  received += 1;
  socket.write(answer);
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sink has no port');
  process.send?.({ port: address.port });
});

process.on('message', ({ keepTimes }: SinkRequest) => {
  isKeepingTimes = keepTimes;
  const state: SinkState = { received, arrivals: [...arrivals] };
  arrivals.clear();
  process.send?.(state);
});
process.on('disconnect', () => process.exit(0));
