/** What a command or its destination says to the proxy so that the server, in whose process it is, stops or runs short. */
import { readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ProxyOptions, type RunProxy, startProxy } from '../../../src/sandbox/network/proxy.ts';
import type { ConnectionDecision, ConnectionEnd } from '../../../src/sandbox/sandbox.ts';
import { ownAddress, temporaryDirectory, until } from '../harness.ts';

const root = temporaryDirectory();
const good = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood';
/** What the destination says to each connection; null: nothing, for ever. */
let answer: string | null = good;
let port = 0;
let destination: Server;
const visits = new Set<Socket>();
let proxy: RunProxy;
let decisions: ConnectionDecision[];
let ends: ConnectionEnd[];

beforeAll(async () => {
  destination = createServer({ allowHalfOpen: true }, (socket) => {
    visits.add(socket.on('error', () => socket.destroy()));
    socket.once('close', () => visits.delete(socket));
    socket.once('data', () => answer !== null && socket.end(answer));
  });
  await new Promise<void>((resolve) => destination.listen(0, ownAddress, resolve));
  port = (destination.address() as AddressInfo).port;
});
afterAll(() => {
  destination.close();
  rmSync(root, { recursive: true, force: true });
});

beforeEach(() => start({}));
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  for (const visit of visits) visit.destroy();
});

async function start(options: Partial<ProxyOptions>): Promise<void> {
  [answer, decisions, ends] = [good, [], []];
  proxy = await startProxy({
    ...{ directory: join(root, 'sandbox'), access: { mode: 'allowlist', allowedHosts: ['site.example'] } },
    resolve: async () => [ownAddress ?? '203.0.113.9'],
    onConnection: (decision) => decisions.push(decision),
    onConnectionEnd: (end) => ends.push(end),
    ...options,
  });
}

const get = (...headers: readonly string[]) =>
  [`GET http://site.example:${port}/ HTTP/1.1`, 'host: site.example', ...headers, '\r\n'].join('\r\n');

/** All that comes back, once it is enough or the connection is over. */
function said(text: string, isEnough: (back: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(proxy.socket, () => socket.write(text));
    let back = '';
    socket.on('data', (chunk) => {
      back += chunk;
      if (isEnough(back)) socket.destroy();
    });
    socket.on('error', () => socket.destroy()).once('close', () => resolve(back));
  });
}

const isAnswered = (back: string) => /good$|cannot be passed on.*\n/.test(back);

// Node ends the process for what is thrown where nobody catches it, and vitest fails the file.
describe.runIf(ownAddress !== undefined)('the server goes on', () => {
  it.for([
    ['with a status that cannot be written', 'HTTP/1.1 000 x\r\ncontent-length: 4\r\n\r\ngood'],
    ['with another one', 'HTTP/1.1 099 x\r\ncontent-length: 4\r\n\r\ngood'],
  ] as const)('after an answer %s, and the command is told', async ([, text]) => {
    answer = text;

    expect(await said(get(), isAnswered)).toMatch(/^HTTP\/1\.1 502 .*the answer cannot be passed on/s);
    await until('the end of the connection', () => ends.length === 1);
    expect(ends).toMatchObject([{ host: 'site.example', failure: null }]);
  });

  it('after an answer that announces trailers and has none', async () => {
    answer = 'HTTP/1.1 200 OK\r\ntrailer: x\r\ncontent-length: 4\r\n\r\ngood';

    expect(await said(get(), isAnswered)).toMatch(/^HTTP\/1\.1 200 .*good$/s);
  });

  it.for([[['trailer: x']], [['trailer: x', 'expect: 100-continue']]])(
    'after a request with %s',
    async ([headers = []]) => {
      expect(await said(get(...headers), isAnswered)).toMatch(/HTTP\/1\.1 200 .*good$/s);
      await until('the end of the connection', () => ends.length === decisions.length);
    },
  );
});

describe.runIf(ownAddress !== undefined)('one command cannot use up', () => {
  it('connections by requests that do not wait for answers', async () => {
    answer = null;

    expect(await said(get().repeat(2000))).toBe('');
    await until('the end of all connections', () => ends.length === decisions.length);
    expect(decisions.length).toBeLessThan(2);
  });

  it('requests one after the other on one connection', async () => {
    answer = good;
    const socket = connect(proxy.socket);
    for (let count = 1; count <= 3; count++) {
      const back = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
      socket.write(get());
      expect(await back).toContain('HTTP/1.1 200');
    }
    socket.destroy();
  });

  it('lookups by leaving before they are answered', async () => {
    await proxy[Symbol.asyncDispose]();
    await start({ resolve: () => new Promise(() => {}) });
    for (let count = 0; count < 300; count++) {
      const socket = connect(proxy.socket);
      socket.on('error', () => socket.destroy());
      await new Promise((resolve) => socket.end(get(), () => resolve(undefined)));
      socket.destroy();
    }

    await until('a refusal', () => decisions.some(({ decision }) => /too many names/.test(decision)));
  });

  it('descriptors by tunnels that it leaves, however long their destinations keep them', async () => {
    answer = null;
    const open = `CONNECT site.example:${port} HTTP/1.1\r\n\r\n`;
    for (let batch = 0; batch < 16; batch++) {
      await Promise.all(Array.from({ length: 100 }, () => said(open, (back) => back.includes('200'))));
    }

    const sockets = readdirSync('/proc/self/fd').length - visits.size;
    expect(sockets).toBeLessThan(1300);
  });
});
