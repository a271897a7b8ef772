/** The proxy of a run, with a server to reach on an address of this machine that is not loopback. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyOptions, startProxy } from '../../../src/sandbox/network/proxy.ts';
import type { ConnectionDecision } from '../../../src/sandbox/sandbox.ts';
import {
  createHarness,
  type Harness,
  identity,
  ownAddress,
  runIn,
  script,
  temporaryDirectory,
  testLimits,
  until,
} from '../harness.ts';

let port = 0;
let hits: string[] = [];
let server: Server;
const root = temporaryDirectory();

beforeAll(async () => {
  server = createHttpServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    incoming.on('end', () => {
      hits.push(`${incoming.method} ${incoming.url} ${incoming.headers.host} ${body}`);
      outgoing.writeHead(201, { 'x-seen': String(incoming.headers['proxy-connection']) }).end('reached\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly decisions: readonly ConnectionDecision[];
}

/** Sends one request through a proxy of its own: `CONNECT` tunnels a GET, anything else goes in absolute form. */
async function through(
  options: Omit<ProxyOptions, 'directory'>,
  target: string,
  form: 'CONNECT' | 'GET' | 'POST' = 'CONNECT',
): Promise<Answer> {
  const decisions: ConnectionDecision[] = [];
  hits = [];
  await using proxy = await startProxy({
    directory: join(root, 'sandbox'),
    onConnection: (decision) => decisions.push(decision),
    ...options,
  });
  const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const read = (response: IncomingMessage) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    };
    const path = form === 'CONNECT' ? target : `http://${target}/path?q=1`;
    const headers = { host: 'lie.example', 'proxy-connection': 'keep-alive' };
    const outgoing = request({ socketPath: proxy.socket, method: form, path, headers });
    outgoing.on('error', reject);
    outgoing.on('response', read);
    outgoing.on('connect', (response, socket, head) => {
      if (response.statusCode !== 200) {
        resolve({ status: response.statusCode ?? 0, body: head.toString() });
        return;
      }
      const inner = request(
        { createConnection: () => socket, path: '/tunnel', headers: { host: target } },
        read,
      );
      inner.on('error', reject);
      inner.end();
    });
    outgoing.end(form === 'POST' ? 'sent' : undefined);
  });
  return { ...answer, decisions };
}

const open = { mode: 'public', allowedHosts: [] } as const;

describe('refusals', () => {
  it.each([
    ['127.0.0.1', 'loopback address'],
    ['localhost', 'loopback address'],
    ['[::1]', 'loopback address'],
    ['[::ffff:127.0.0.1]', 'loopback address'],
    ['0.0.0.0', 'loopback address'],
    ['127.1', 'loopback address'],
    ['2130706433', 'loopback address'],
    ['0x7f000001', 'loopback address'],
    ['localhost.', 'loopback address'],
  ])('reach for loopback as %s: %s', async (host, reason) => {
    for (const form of ['CONNECT', 'GET'] as const) {
      const { status, decisions } = await through({ access: open }, `${host}:${port}`, form);

      expect(status).toBe(403);
      expect(decisions).toMatchObject([{ port, isAllowed: false, decision: reason }]);
      expect(hits).toEqual([]);
    }
  });

  it.each(['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '168.63.129.16'])(
    'cover the metadata service at %s, listed or not',
    async (host) => {
      const access = { mode: 'public', allowedHosts: [host.replace(/[[\]]/g, '')] } as const;

      expect(await through({ access: open }, `${host}:80`)).toMatchObject({ status: 403 });
      expect((await through({ access }, `${host}:80`)).decisions).toMatchObject([
        { decision: 'metadata address' },
      ]);
    },
  );

  it('say why to whoever asked', async () => {
    const { status, body } = await through({ access: open }, '10.1.2.3:443', 'GET');

    expect(status).toBe(403);
    expect(body).toMatch(/^Slipway refused 10\.1\.2\.3:443: private address .*SANDBOX_ALLOWED_HOSTS/);
  });

  it('cover names that resolve to what is refused, and mixed answers', async () => {
    const resolve = (...addresses: string[]) => ({ access: open, resolve: async () => addresses });

    expect((await through(resolve('169.254.169.254'), 'a.example:80')).decisions[0]?.decision).toBe(
      'metadata address',
    );
    expect((await through(resolve('203.0.113.9', '127.0.0.1'), 'a.example:80')).decisions[0]?.decision).toBe(
      'mixed addresses',
    );
  });

  it('come before the lookup of a name that is not on the list', async () => {
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      return ['203.0.113.9'];
    };
    const access = { mode: 'allowlist', allowedHosts: ['github.com', '10.0.0.0/8'] } as const;
    const { decisions } = await through({ access, resolve }, 'c2VjcmV0.evil.example:443');

    expect(decisions[0]?.decision).toBe('not on the allow-list');
    expect(looked).toEqual([]);
  });

  it.each(['example.com', 'user@example.com:80', ':80', 'a:99999', ''])(
    'cover the malformed target %j',
    async (target) => {
      expect((await through({ access: open }, target)).status).toBe(400);
    },
  );

  it('are 502 for names that do not exist', async () => {
    const resolve = async () => {
      throw new Error('ENOTFOUND');
    };
    const { status, decisions } = await through({ access: open, resolve }, 'nowhere.example:443');

    expect(status).toBe(502);
    expect(decisions).toMatchObject([{ isAllowed: false, decision: 'cannot be resolved: ENOTFOUND' }]);
  });
});

describe.runIf(ownAddress !== undefined)('connections', () => {
  const address = ownAddress ?? '';
  const listed = () => ({ mode: 'public', allowedHosts: [`${address}:${port}`] }) as const;

  it('to an address of this machine need that very address on the list', async () => {
    const network = { mode: 'public', allowedHosts: [`${address}/24`] } as const;

    expect((await through({ access: open }, `${address}:${port}`)).decisions[0]?.decision).toBe(
      'own address of the server',
    );
    expect((await through({ access: network }, `${address}:${port}`)).status).toBe(403);
    expect(hits).toEqual([]);
    expect((await through({ access: listed() }, `${address}:${port}`)).status).toBe(201);
  });

  it('are tunnelled, or forwarded with the host of the address and without hop headers', async () => {
    const tunnelled = await through({ access: listed() }, `${address}:${port}`);
    expect(tunnelled).toMatchObject({
      status: 201,
      body: 'reached\n',
      decisions: [{ decision: 'allowed', isAllowed: true }],
    });
    expect(hits).toEqual([`GET /tunnel ${address}:${port} `]);

    const forwarded = await through({ access: listed() }, `${address}:${port}`, 'POST');
    expect(forwarded).toMatchObject({ status: 201, body: 'reached\n' });
    expect(hits).toEqual([`POST /path?q=1 ${address}:${port} sent`]);
  });

  it('go to the address that was judged, although the name changes its answer', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [asked === 1 ? address : '127.0.0.1'];
    };
    const loopbackOnly = createServer(() => hits.push('loopback'));
    await new Promise<void>((done) => loopbackOnly.listen(0, '127.0.0.1', done));
    const access = { mode: 'public', allowedHosts: ['rebind.example'] } as const;
    for (const form of ['CONNECT', 'GET'] as const) {
      asked = 0;
      const { status } = await through({ access, resolve }, `rebind.example:${port}`, form);

      expect(status).toBe(201);
      expect(asked).toBe(1);
      expect(hits).toHaveLength(1);
    }
    loopbackOnly.close();
  });

  it('that fail are 502 with the reason', async () => {
    const closed = createServer();
    await new Promise<void>((done) => closed.listen(0, address, done));
    const closedPort = (closed.address() as AddressInfo).port;
    await new Promise((done) => closed.close(done));
    const access = { mode: 'public', allowedHosts: [address] } as const;
    for (const form of ['CONNECT', 'GET'] as const) {
      const { status } = await through({ access }, `${address}:${closedPort}`, form);

      expect(status).toBe(502);
    }
  });

  it('that a command has abandoned do not keep the next from connecting', async () => {
    // Its sockets stay open on its side whatever the proxy does.
    const held: Socket[] = [];
    const silent = createServer({ allowHalfOpen: true }, (socket) => {
      held.push(socket.on('error', () => {}).resume());
    });
    await new Promise<void>((done) => silent.listen(0, '0.0.0.0', done));
    const silentPort = (silent.address() as AddressInfo).port;
    const access = { mode: 'public', allowedHosts: [address] } as const;
    using harness = await createHarness();
    await using network = await harness.sandbox.openNetwork(access, { identity });
    const connect = (to: number) =>
      `exec {fd}<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT ${address}:${to} HTTP/1.1\\r\\n\\r\\n' >&$fd && read -t 10 answer <&$fd && echo "$answer"`;
    const say = async (text: string) => {
      let output = '';
      await harness.sandbox.run({
        ...{ identity, network, mounts: [], workingDirectory: '/tmp', limits: testLimits },
        ...{ argv: script(text), environment: { PATH: '/usr/bin:/bin' } },
        onOutput: (_, chunk) => {
          output += Buffer.from(chunk).toString('utf8');
        },
        signal: new AbortController().signal,
      });
      return output.match(/ 200 /g)?.length ?? 0;
    };

    const many = await say(`for i in $(seq 300); do ${connect(silentPort)}; done 2>/dev/null`);
    const next = await say(`for i in $(seq 20); do ${connect(silentPort)}; done`);

    // As many as there may be at once, and then those of another command.
    expect({ many, next }).toEqual({ many: 256, next: 20 });
    for (const socket of held) socket.destroy();
    silent.close();
  });

  it('are let go of when nobody speaks, and not before the answer of who waits', async () => {
    const upstreams: Socket[] = [];
    const slow = createServer({ allowHalfOpen: true }, (socket) => {
      upstreams.push(socket.on('error', () => {}).resume());
    });
    await new Promise<void>((done) => slow.listen(0, '0.0.0.0', done));
    const slowPort = (slow.address() as AddressInfo).port;
    const access = { mode: 'public', allowedHosts: [address] } as const;
    await using proxy = await startProxy({ access, directory: join(root, 'sandbox'), patienceMs: 1000 });
    const tunnel = () =>
      new Promise<Socket>((done) => {
        const path = `${address}:${slowPort}`;
        request({ socketPath: proxy.socket, method: 'CONNECT', path })
          .once('connect', (_answer, socket) => done(socket as Socket))
          .end();
      });

    const waiting = await tunnel();
    let answer = '';
    waiting.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    waiting.end('question');
    await until('the end of the question', () => upstreams[0]?.readableEnded);
    upstreams[0]?.end('answer');
    await until('the answer', () => answer === 'answer');

    const forgotten = await tunnel();
    const closed = new Promise((done) => forgotten.once('close', done));
    forgotten.resume().end();
    await closed;
    for (const upstream of upstreams) upstream.destroy();
    slow.close();
  });

  it('end with the proxy', async () => {
    const silent = createServer();
    await new Promise<void>((done) => silent.listen(0, '0.0.0.0', done));
    const silentPort = (silent.address() as AddressInfo).port;
    const gone = new Promise((done) =>
      silent.once('connection', (socket) => socket.on('error', () => {}).once('close', done)),
    );
    const access = { mode: 'public', allowedHosts: [address] } as const;
    {
      await using proxy = await startProxy({ access, directory: join(root, 'sandbox') });
      const outgoing = request({
        socketPath: proxy.socket,
        method: 'CONNECT',
        path: `${address}:${silentPort}`,
      });
      outgoing.on('error', () => {});
      const connected = new Promise((done) =>
        outgoing.once('connect', (_answer, socket) => done(socket.on('error', () => {}))),
      );
      outgoing.end();
      await connected;
    }
    await gone;
    silent.close();

    expect(readdirSync(join(root, 'sandbox'))).toEqual([]);
  });
});

it.skipIf(ownAddress !== undefined)(
  'needs an interface other than loopback to prove that connections work',
  () => {},
);

it('works in directories with long names', async () => {
  await using proxy = await startProxy({ access: open, directory: join(root, 'x'.repeat(200)) });

  expect(existsSync(proxy.socket)).toBe(true);
});

describe('inside the sandbox', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await createHarness();
  });
  afterAll(() => harness[Symbol.dispose]());

  const node = { source: process.execPath, target: '/opt/tools/node', writable: false };
  const fetching = (url: string) =>
    `fetch(${JSON.stringify(url)}).then((r) => r.text(), (e) => e.message + ' ' + (e.cause?.code ?? e.cause?.message)).then(console.log)`;

  it.runIf(ownAddress !== undefined)('programs find the proxy by themselves', async () => {
    hits = [];
    const decisions: ConnectionDecision[] = [];
    const { stdout } = await runIn(
      harness.sandbox,
      ['/opt/tools/node', '-e', fetching(`http://${ownAddress}:${port}/node`)],
      {
        mounts: [node],
        network: { mode: 'allowlist', allowedHosts: [`${ownAddress}`] },
        onConnection: (decision) => decisions.push(decision),
      },
    );

    expect(stdout).toBe('reached\n\n');
    expect(hits).toEqual([`GET /node ${ownAddress}:${port} `]);
    expect(decisions).toEqual([{ host: ownAddress, port, decision: 'allowed', isAllowed: true }]);
  });

  it('programs that ignore it reach nothing', async () => {
    hits = [];
    const direct = `(exec 3<>/dev/tcp/${ownAddress ?? '192.0.2.1'}/${port}) 2>&1 | tail -n1`;
    const { stdout } = await runIn(harness.sandbox, script(direct), { network: open });

    expect(stdout).toContain('Network is unreachable');
    expect(hits).toEqual([]);
  });

  it.runIf(existsSync('/usr/bin/curl'))('curl is refused at loopback and at metadata', async () => {
    hits = [];
    const curl = (url: string) => `curl -sS -o /dev/null -w '%{http_code} ' ${url} 2>&1`;
    const { stdout } = await runIn(
      harness.sandbox,
      script(
        `unset no_proxy NO_PROXY; ${curl(`http://127.0.0.1:${port}/`)}; ${curl('http://169.254.169.254/latest/')}`,
      ),
      { network: { mode: 'public', allowedHosts: ['127.0.0.1', '169.254.169.254'] } },
    );

    expect(stdout).toBe('403 403 ');
    expect(hits).toEqual([]);
  });

  it('certificates are in one place, and variables say where', async () => {
    const { stdout } = await runIn(
      harness.sandbox,
      script(
        'grep -c BEGIN "$SSL_CERT_FILE"; [ "$SSL_CERT_FILE" = "$NODE_EXTRA_CA_CERTS" ] && echo same; echo "$GIT_SSL_CAINFO $no_proxy"',
      ),
      {
        network: open,
        environment: { PATH: '/usr/bin:/bin', GIT_SSL_CAINFO: '/mine', no_proxy: 'everything' },
      },
    );

    expect(stdout).toMatch(/^\d+\nsame\n\/mine 127\.0\.0\.1,localhost,::1\n$/);
  });

  it('loopback of the command works beside the proxy', async () => {
    const program = `
      const server = require('node:http').createServer((q, r) => r.end('own'));
      server.listen(0, '127.0.0.1', () => fetch('http://127.0.0.1:' + server.address().port).then((r) => r.text()).then((t) => { console.log(t); process.exit(6); }));`;
    const { result, stdout } = await runIn(harness.sandbox, ['/opt/tools/node', '-e', program], {
      mounts: [node],
      network: open,
    });

    expect(stdout).toBe('own\n');
    expect(result).toMatchObject({ kind: 'exited', exitCode: 6 });
  });

  it('the command is stopped, killed and reported as without network', async () => {
    const stop = new AbortController();
    const { result } = await runIn(
      harness.sandbox,
      script('trap "exit 42" INT; echo ready; while :; do sleep 0.02; done'),
      {
        network: open,
        signal: stop.signal,
        onOutput: () => stop.abort(),
      },
    );
    const missing = await runIn(harness.sandbox, ['no-such-program'], { network: open });
    const signalled = await runIn(harness.sandbox, script('kill -SEGV $$'), { network: open });

    expect(result).toMatchObject({ kind: 'stopped', exitCode: 42 });
    expect(missing.result).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('no-such-program'),
    });
    expect(signalled.result).toMatchObject({ kind: 'exited', exitCode: 139 });
  });
});
