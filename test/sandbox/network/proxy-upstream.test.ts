/** The proxy of a run where everything goes through a proxy of the operator. */
import { rmSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyOptions, startProxy } from '../../../src/sandbox/network/proxy.ts';
import type { ConnectionDecision, ConnectionEnd, OpenAccess } from '../../../src/sandbox/sandbox.ts';
import { temporaryDirectory } from '../harness.ts';
import { forwarded, openTunnel, refusalOf, tunnelOf } from './proxy-requests.ts';
import { startUpstream } from './upstream-stand-in.ts';

const root = temporaryDirectory();
const credentials = { user: 'ada', password: 'p@ss:wörd' };
const authorization = `Basic ${Buffer.from('ada:p@ss:wörd').toString('base64')}`;
const publicAddress = '203.0.113.9';

let web: Server;
let webPort = 0;
let hits: string[] = [];
beforeAll(async () => {
  web = createHttpServer(({ method, url, headers }, outgoing) => {
    hits.push(`${method} ${url} ${headers.host} ${headers['proxy-authorization'] ?? 'no credentials'}`);
    outgoing.end('reached');
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  webPort = (web.address() as AddressInfo).port;
});
afterAll(() => {
  web.close();
  rmSync(root, { recursive: true, force: true });
});

interface World {
  readonly socket: string;
  readonly decisions: readonly ConnectionDecision[];
  readonly ends: readonly ConnectionEnd[];
}

/** A proxy of a run behind the one at that port of loopback. */
async function behind(
  port: number,
  work: (world: World) => Promise<void>,
  options: Partial<ProxyOptions> = {},
): Promise<void> {
  const decisions: ConnectionDecision[] = [];
  const ends: ConnectionEnd[] = [];
  hits = [];
  await using proxy = await startProxy({
    ...{ directory: join(root, 'sandbox'), access: { mode: 'public', allowedHosts: [] } },
    resolve: async () => [publicAddress],
    onConnection: (decision) => decisions.push(decision),
    onConnectionEnd: (end) => ends.push(end),
    upstream: { host: '127.0.0.1', port, credentials: null },
    ...options,
  });
  await work({ socket: proxy.socket, decisions, ends });
}

const unknownName = async () => {
  throw new Error('ENOTFOUND');
};

describe('what goes through an upstream proxy', () => {
  it('is asked for by name, tunnels and plain http, with credentials that only it sees', async () => {
    await using upstream = await startUpstream({ leadsTo: webPort, authorization });
    const proxy = { host: '127.0.0.1', port: upstream.port, credentials };
    await behind(
      upstream.port,
      async ({ socket }) => {
        const tunnel = tunnelOf(await openTunnel(socket, 'registry.example:443'));
        tunnel.write('GET /inside HTTP/1.1\r\nhost: registry.example\r\nconnection: close\r\n\r\n');
        let inside = '';
        tunnel.on('data', (chunk: Buffer) => {
          inside += chunk.toString();
        });
        await new Promise((resolve) => tunnel.once('end', resolve));
        tunnel.end();
        const plain = await forwarded(socket, 'http://registry.example/plain?q=1', {
          method: 'POST',
          body: 'body',
        });

        expect(inside).toContain('reached');
        expect(plain).toEqual({ status: 200, body: 'reached' });
      },
      { upstream: proxy },
    );

    expect(upstream.asked.map(({ line }) => line)).toEqual([
      'CONNECT registry.example:443',
      'POST http://registry.example:80/plain?q=1',
    ]);
    expect(upstream.asked.map(({ headers }) => headers['proxy-authorization'])).toEqual([
      authorization,
      authorization,
    ]);
    // This one passes on what it is told; the command's own credentials were dropped before.
    expect(hits).toEqual([
      'GET /inside registry.example no credentials',
      `POST /plain?q=1 registry.example ${authorization}`,
    ]);
  });

  it('is judged before, by its own resolution', async () => {
    await using upstream = await startUpstream({ leadsTo: webPort });
    for (const [addresses, decision] of [
      [['127.0.0.1'], 'loopback address'],
      [['169.254.169.254'], 'metadata address'],
      [['10.1.2.3'], 'private address'],
      [[publicAddress, '10.1.2.3'], 'mixed addresses'],
    ] as const) {
      await behind(
        upstream.port,
        async ({ socket, decisions }) => {
          expect(refusalOf(await openTunnel(socket, 'a.example:443')).status).toBe(403);
          expect((await forwarded(socket, 'http://a.example/')).status).toBe(403);
          expect(decisions.map((each) => each.decision)).toEqual([decision, decision]);
        },
        { resolve: async () => addresses },
      );
    }

    expect(upstream.asked).toEqual([]);
  });

  it.each(['127.0.0.1', '169.254.169.254', '10.1.2.3', '[::1]', '[fd00:ec2::254]', '[::ffff:10.1.2.3]'])(
    'is never the forbidden address %s',
    async (host) => {
      await using upstream = await startUpstream({ leadsTo: webPort });
      await behind(upstream.port, async ({ socket }) => {
        expect(refusalOf(await openTunnel(socket, `${host}:443`)).status).toBe(403);
        expect((await forwarded(socket, `http://${host}/`)).status).toBe(403);
      });

      expect(upstream.asked).toEqual([]);
    },
  );

  it('is an address in disguise only as what was judged', async () => {
    await using upstream = await startUpstream({ leadsTo: webPort });
    await behind(upstream.port, async ({ socket }) => {
      tunnelOf(await openTunnel(socket, '3405803785:443')).destroy();
    });

    expect(upstream.asked.map(({ line }) => line)).toEqual([`CONNECT ${publicAddress}:443`]);
  });

  it.each<[OpenAccess, number]>([
    [{ mode: 'allowlist', allowedHosts: ['only.example'] }, 200],
    [{ mode: 'allowlist', allowedHosts: ['*.example'] }, 200],
    [{ mode: 'allowlist', allowedHosts: ['other.example', '203.0.113.0/24'] }, 403],
    [{ mode: 'public', allowedHosts: [] }, 502],
    [{ mode: 'public', allowedHosts: ['only.example'] }, 502],
  ])('with %j, when only the upstream knows the name: %i', async (access, status) => {
    await using upstream = await startUpstream({ leadsTo: webPort });
    await behind(
      upstream.port,
      async ({ socket }) => {
        const opened = await openTunnel(socket, 'only.example:443');
        if (status === 200) tunnelOf(opened).destroy();
        else expect(refusalOf(opened).status).toBe(status);
        expect((await forwarded(socket, 'http://only.example/')).status).toBe(status);
      },
      { access, resolve: unknownName },
    );

    const asked = upstream.asked.map(({ line }) => line);
    expect(asked).toEqual(status === 200 ? ['CONNECT only.example:443', 'GET http://only.example:80/'] : []);
  });
});

describe('an upstream proxy that refuses', () => {
  const told = (answer: string) =>
    new Promise<{ body: string; failure: string | null | undefined }>((resolve, reject) => {
      const work = async () => {
        await using upstream = await startUpstream({ leadsTo: webPort, answer });
        const proxy = { host: '127.0.0.1', port: upstream.port, credentials };
        await behind(
          upstream.port,
          async ({ socket, ends }) => {
            const { status, body } = refusalOf(await openTunnel(socket, 'a.example:443'));
            expect(status).toBe(502);
            resolve({ body, failure: ends[0]?.failure });
          },
          { upstream: proxy },
        );
      };
      work().catch(reject);
    });

  it('is quoted, shortly', async () => {
    const page = `<html>${'x'.repeat(5000)}`;
    expect(await told('HTTP/1.1 403 Not Today\r\n\r\n')).toEqual({
      body: 'a.example:443 cannot be reached: the upstream proxy answered 403 Not Today\n',
      failure: 'the upstream proxy answered 403 Not Today',
    });
    expect((await told(`HTTP/1.1 403 No\r\ncontent-type: text/html\r\n\r\n${page}`)).failure).toBe(
      'the upstream proxy answered 403 No',
    );
    const { failure } = await told(
      `HTTP/1.1 503 Busy\r\ncontent-type: text/plain\r\n\r\nCome back\r\n later\u001b[2J ${'y'.repeat(5000)}`,
    );
    expect(failure).toMatch(/^the upstream proxy answered 503 Busy Come back later \[2J y+$/);
    expect(failure?.length).toBeLessThan(250);
  });

  it('cannot make us repeat the credentials', async () => {
    const { body, failure } = await told(
      `HTTP/1.1 403 ${authorization}\r\ncontent-type: text/plain\r\n\r\nwho is ada:p@ss:wörd or ${authorization}?`,
    );
    expect(failure).toBe('the upstream proxy answered 403 Basic *** who is ada:*** or Basic ***?');
    expect(body).not.toContain('rd');
  });

  it('is not asked to repeat what it was told', async () => {
    await using upstream = await startUpstream({ leadsTo: webPort });
    await behind(upstream.port, async ({ socket }) => {
      expect(await forwarded(socket, 'http://a.example/', { method: 'TRACE' })).toMatchObject({
        status: 400,
      });
    });
    expect(upstream.asked).toEqual([]);
  });

  it('for want of credentials is 502, for plain http too: they are not the command’s to give', async () => {
    await using upstream = await startUpstream({ leadsTo: webPort, authorization });
    await behind(upstream.port, async ({ socket, ends }) => {
      const tunnel = refusalOf(await openTunnel(socket, 'a.example:443'));
      const plain = await forwarded(socket, 'http://a.example/');

      const reason = 'the upstream proxy answered 407 Proxy Authentication Required';
      expect(tunnel).toEqual({ status: 502, body: `a.example:443 cannot be reached: ${reason}\n` });
      expect(plain).toEqual({ status: 502, body: `a.example:80 cannot be reached: ${reason}\n` });
      expect(ends.map(({ failure }) => failure)).toEqual([reason, reason]);
    });
    expect(hits).toEqual([]);
  });

  it('or is not there, or is silent, is told as such', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await behind(port, async ({ socket }) => {
      const { body } = refusalOf(await openTunnel(socket, 'a.example:443'));
      const plain = await forwarded(socket, 'http://a.example/');
      expect([body, plain.body]).toEqual([
        'a.example:443 cannot be reached: the upstream proxy did not answer: ECONNREFUSED\n',
        'a.example:80 cannot be reached: the upstream proxy did not answer: ECONNREFUSED\n',
      ]);
    });

    await using silent = await startUpstream({ leadsTo: webPort, answer: '' });
    await behind(
      silent.port,
      async ({ socket, ends }) => {
        const { status } = refusalOf(await openTunnel(socket, 'a.example:443'));
        expect(status).toBe(502);
        expect(ends).toMatchObject([{ failure: expect.stringContaining('nothing for 0.1 s') }]);
      },
      { patienceMs: 100 },
    );
    expect(silent.asked).toHaveLength(1);
  });
});
