/** The end of each connection of a run: told once, with what passed. */

import { rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyOptions, startProxy } from '../../../src/sandbox/network/proxy.ts';
import type { ConnectionDecision, ConnectionEnd } from '../../../src/sandbox/sandbox.ts';
import { fc } from '../../support/fast-check.ts';
import { ownAddress, temporaryDirectory, until } from '../harness.ts';
import { forwarded, openTunnel, refusalOf, tunnelOf } from './proxy-requests.ts';
import { startUpstream, type UpstreamStandIn } from './upstream-stand-in.ts';

const root = temporaryDirectory();
const name = 'counted.example';

/** Reads so many bytes as the first eight say, and sends as many as the second eight say. */
let counting: Server;
let port = 0;
const held = new Set<Socket>();
let upstream: UpstreamStandIn;
beforeAll(async () => {
  counting = createServer((socket) => {
    held.add(socket.on('error', () => socket.destroy()));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 16) return;
      const wanted = Number(received.readBigUInt64BE(0));
      if (received.length === wanted) socket.end(Buffer.alloc(Number(received.readBigUInt64BE(8))));
    });
  });
  await new Promise<void>((resolve) => counting.listen(0, '0.0.0.0', resolve));
  port = (counting.address() as AddressInfo).port;
  upstream = await startUpstream({ leadsTo: port });
});
afterAll(async () => {
  for (const socket of held) socket.destroy();
  counting.close();
  await upstream[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

async function aProxy(options: Partial<ProxyOptions> = {}) {
  const decisions: ConnectionDecision[] = [];
  const ends: ConnectionEnd[] = [];
  const proxy = await startProxy({
    ...{ directory: join(root, 'sandbox'), access: { mode: 'allowlist', allowedHosts: [name] } },
    resolve: async () => [ownAddress ?? '203.0.113.9'],
    onConnection: (decision) => decisions.push(decision),
    onConnectionEnd: (end) => ends.push(end),
    ...options,
  });
  return { proxy, decisions, ends, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

const throughUpstream = (by = upstream): Partial<ProxyOptions> => ({
  upstream: { host: '127.0.0.1', port: by.port, credentials: null },
});

async function exchange(socketPath: string, sent: number, received: number): Promise<void> {
  const socket = tunnelOf(await openTunnel(socketPath, `${name}:${port}`));
  const bytes = Buffer.alloc(sent);
  bytes.writeBigUInt64BE(BigInt(sent), 0);
  bytes.writeBigUInt64BE(BigInt(received), 8);
  socket.write(bytes);
  let count = 0;
  socket.on('data', (chunk: Buffer) => {
    count += chunk.length;
  });
  await new Promise((resolve) => socket.once('end', resolve));
  socket.end();
  expect(count).toBe(received);
}

const ways = [
  {
    way: 'dialled from here',
    options: (): Partial<ProxyOptions> => ({}),
    isPossible: ownAddress !== undefined,
  },
  { way: 'through an upstream proxy', options: throughUpstream, isPossible: true },
];

describe.each(ways)('connections $way', ({ options, isPossible }) => {
  it.runIf(isPossible)('end with the bytes of the command, whatever their number', async () => {
    const size = fc.oneof(fc.integer({ min: 16, max: 100 }), fc.integer({ min: 16, max: 3_000_000 }));
    await fc.assert(
      fc.asyncProperty(size, size, async (sent, received) => {
        await using world = await aProxy(options());
        await exchange(world.proxy.socket, sent, received);
        await until('the end of the connection', () => world.ends.length > 0);

        expect(world.ends).toEqual([
          { host: name, port, sentBytes: sent, receivedBytes: received, failure: null },
        ]);
      }),
      { numRuns: 12 },
    );
  });

  it.runIf(isPossible)('that are open when the network is closed have ended by then', async () => {
    held.clear();
    const world = await aProxy(options());
    const socket = tunnelOf(await openTunnel(world.proxy.socket, `${name}:${port}`));
    socket.on('error', () => undefined).write('some');
    await until('the bytes to have passed', () => [...held].at(-1)?.bytesRead === 4);
    expect(world.ends).toEqual([]);
    await world.proxy[Symbol.asyncDispose]();

    expect(world.ends).toEqual([{ host: name, port, sentBytes: 4, receivedBytes: 0, failure: null }]);
  });

  it.runIf(isPossible)('of plain http end with each request', async () => {
    const web = createHttpServer((incoming, outgoing) => {
      incoming.resume().once('end', () => outgoing.end('x'.repeat(50_000)));
    });
    await new Promise<void>((resolve) => web.listen(0, '0.0.0.0', resolve));
    const webPort = (web.address() as AddressInfo).port;
    await using onward = await startUpstream({ leadsTo: webPort });
    await using world = await aProxy(options(onward));
    for (const given of [{}, { method: 'POST', body: 'y'.repeat(40_000) }]) {
      const { status } = await forwarded(world.proxy.socket, `http://${name}:${webPort}/`, given);
      expect(status).toBe(200);
    }
    await until('the end of both', () => world.ends.length === 2);
    web.close();

    // With the headers, which are not ours to count in a test.
    const [got, sent] = world.ends;
    expect(got).toMatchObject({ host: name, port: webPort, failure: null });
    expect(got?.receivedBytes).toBeGreaterThan(50_000);
    expect(got?.receivedBytes).toBeLessThan(51_000);
    expect(got?.sentBytes).toBeLessThan(1000);
    expect(sent?.sentBytes).toBeGreaterThan(40_000);
    expect(sent?.sentBytes).toBeLessThan(41_000);
  });
});

describe('connections that come to nothing', () => {
  it.runIf(ownAddress !== undefined)('end with the reason, and without addresses', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, ownAddress, resolve));
    const closedPort = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    await using world = await aProxy();
    const target = `${name}:${closedPort}`;
    const answers = [
      refusalOf(await openTunnel(world.proxy.socket, target)),
      await forwarded(world.proxy.socket, `http://${target}/`),
    ];

    const failure = 'ECONNREFUSED';
    expect(answers).toEqual(
      Array(2).fill({ status: 502, body: `${target} cannot be reached: ${failure}\n` }),
    );
    expect(world.ends).toEqual(
      Array(2).fill({ host: name, port: closedPort, sentBytes: 0, receivedBytes: 0, failure }),
    );
  });

  it('have an end for each that was allowed, and none for what was refused', async () => {
    await using world = await aProxy(throughUpstream());
    refusalOf(await openTunnel(world.proxy.socket, 'other.example:443'));
    await exchange(world.proxy.socket, 16, 1);
    await until('the end', () => world.ends.length > 0);

    expect(world.decisions.map(({ isAllowed }) => isAllowed)).toEqual([false, true]);
    expect(world.ends).toHaveLength(1);
  });

  it('end although the network is closed before their name is known, and nothing is dialled', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<readonly string[]>();
    const resolve = () => {
      asked.resolve();
      return answer.promise;
    };
    const world = await aProxy({ resolve, ...throughUpstream() });
    const before = upstream.asked.length;
    const client = connect({ path: world.proxy.socket }).on('error', () => undefined);
    client.write(`CONNECT ${name}:${port} HTTP/1.1\r\nhost: ${name}\r\n\r\n`);
    await asked.promise;
    await world.proxy[Symbol.asyncDispose]();
    answer.resolve(['203.0.113.9']);
    await until('the end', () => world.ends.length > 0);

    expect(world.ends).toMatchObject([{ failure: 'the command gave up' }]);
    expect(upstream.asked.length).toBe(before);
    client.destroy();
  });
});
