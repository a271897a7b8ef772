/** The network that the commands of a run share. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notMeasured } from '../../../src/sandbox/accounting.ts';
import { forwarderInside } from '../../../src/sandbox/launching/host-tree.ts';
import { type Holder, holdNetwork } from '../../../src/sandbox/network/network.ts';
import { descendantsOf, readProcesses } from '../../../src/sandbox/process-tree.ts';
import type { ConnectionDecision, OpenNetwork, SandboxResult } from '../../../src/sandbox/sandbox.ts';
import {
  createHarness,
  type Harness,
  identity,
  ownAddress,
  processesWith,
  script,
  testLimits,
  until,
} from '../harness.ts';

let harness: Harness;
let host: Server;
let hits = 0;
beforeAll(async () => {
  harness = await createHarness();
  host = createServer((socket) => {
    hits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  host.close();
  harness[Symbol.dispose]();
});

const node = { source: process.execPath, target: '/opt/tools/node', writable: false };
const nothing = { mode: 'allowlist', allowedHosts: [] } as const;
const ask = (name: string) =>
  `exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT ${name}:443 HTTP/1.1\\r\\n\\r\\n' >&3 && head -n1 <&3`;

async function run(network: OpenNetwork | null, text: string) {
  let output = '';
  const result = await harness.sandbox.run({
    ...{ identity, network, mounts: [node], workingDirectory: '/tmp', limits: testLimits },
    argv: script(text),
    environment: { PATH: '/usr/bin:/bin' },
    onOutput: (_, chunk) => {
      output += Buffer.from(chunk).toString('utf8');
    },
    signal: new AbortController().signal,
  });
  return { result, output };
}

/** Host pids of this process's forwarders and of what starts them, innermost first. */
function holders(): number[] {
  const named = processesWith(`${forwarderInside}\0`);
  return descendantsOf(process.pid, readProcesses())
    .map(({ pid }) => pid)
    .filter((pid) => named.includes(pid))
    .toReversed();
}

describe('the network of a run', () => {
  it('serves its commands one after the other and at once, each connection judged and told', async () => {
    const told: ConnectionDecision[] = [];
    await using network = await harness.sandbox.openNetwork(nothing, {
      identity,
      onConnection: (connection) => told.push(connection),
    });

    const first = await run(network, ask('one.example'));
    const both = await Promise.all([run(network, ask('two.example')), run(network, ask('three.example'))]);

    for (const { output } of [first, ...both]) expect(output).toContain('403');
    expect(told.map(({ host: name }) => name).toSorted()).toEqual([
      'one.example',
      'three.example',
      'two.example',
    ]);
  });

  it('has nothing of an earlier command: no process, no listener', async () => {
    await using network = await harness.sandbox.openNetwork(nothing, { identity });
    const listen = `/opt/tools/node -e 'require("node:net").createServer().listen(4000, "127.0.0.1")' &`;
    const connect = '(exec 3<>/dev/tcp/127.0.0.1/4000) 2>&1';

    const before = await run(
      network,
      `${listen} until ${connect} >/dev/null; do sleep 0.05; done; echo reached`,
    );
    const after = await run(network, `${connect}; ls -d /proc/[0-9]* | wc -l`);

    expect(before.output).toContain('reached');
    expect(after.output).toContain('Connection refused');
    expect(Number(after.output.trim().split('\n').at(-1))).toBeLessThan(6);
  });

  it('is not that of another run', async () => {
    const told: string[] = [];
    const open = (key: string) =>
      harness.sandbox.openNetwork(nothing, { identity: { key }, onConnection: () => told.push(key) });
    await using one = await open('run-1');
    await using two = await open('run-2');

    await run(one, ask('a.example'));
    expect(told).toEqual(['run-1']);
    await run(two, ask('a.example'));
    expect(told).toEqual(['run-1', 'run-2']);
  });

  it('never becomes that of the host, not even when what holds it is killed', async () => {
    await using network = await harness.sandbox.openNetwork(nothing, { identity });
    const [forwarder = 0] = holders();
    process.kill(forwarder, 'SIGKILL');
    // No turn of the loop in between: the sandbox must not have heard of it when the first command joins.
    for (let n = 0; n < 1000 && holders().length > 0; n += 1);
    expect(holders()).toEqual([]);

    const address = host.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { result, output } = await run(
      network,
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1; (exec 3<>/dev/tcp/127.0.0.1/3128) 2>&1; wc -l < /proc/net/dev`,
    );

    expect(hits).toBe(0);
    expect(result.kind).toBe('exited');
    expect(output.match(/connect: Connection refused/g)).toHaveLength(2);
    // Two lines of heading, and the loopback interface.
    expect(output.trim().endsWith('3')).toBe(true);

    // Once it has, which takes a busy machine a moment, it says what is wrong instead of letting commands find no proxy.
    let later = (await run(network, 'true')).result;
    for (let n = 0; n < 200 && later.kind === 'exited'; n += 1) later = (await run(network, 'true')).result;
    expect(later).toEqual({
      kind: 'unavailable',
      message: expect.stringMatching(/^the network of the run ended: the forwarder ended/),
      durationMs: 0,
    });
  });

  it('leaves no process and no file once it is closed, and cannot be used any more', async () => {
    const network = await harness.sandbox.openNetwork(nothing, { identity });
    await run(network, 'true');
    await network[Symbol.asyncDispose]();

    expect(holders()).toEqual([]);
    expect(readdirSync(join(harness.root, 'sandbox'))).toEqual(['inside']);
    await expect(run(network, 'true')).rejects.toThrow('not open');
  });

  it('that could not be opened makes its commands unavailable, with the reason', async () => {
    using broken = await createHarness({ bwrap: '/nonexistent/bwrap' });
    await using network = await broken.sandbox.openNetwork(nothing, { identity });
    const result = await broken.sandbox.run({
      ...{ identity, network, mounts: [], workingDirectory: '/tmp', limits: testLimits },
      ...{ argv: ['true'], environment: {}, onOutput: () => {}, signal: new AbortController().signal },
    });
    expect(result).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/./) });
  });
});

describe('names inside', () => {
  // Asks the name servers of the machine, and one that is told of.
  const lookups = (server: string) => `
    const { Resolver } = require('node:dns').promises;
    const { lookup } = require('node:dns').promises;
    const resolver = new Resolver({ timeout: 20000, tries: 1 });
    resolver.setServers(['${server}']);
    const startedMs = performance.now();
    Promise.all([lookup('registry.example'), resolver.resolve4('registry.example')].map((asked) =>
      asked.then(() => 'an answer', (error) => error.code)))
        .then((codes) => console.log(codes.join(' '), Math.round(performance.now() - startedMs)));`;

  it.runIf(ownAddress !== undefined).each(['without network', 'with one'])(
    'lead nowhere, at once, %s: no packet leaves',
    async (kind) => {
      const asked: string[] = [];
      const nameServer = createSocket('udp4', (message) => asked.push(message.toString('latin1')));
      await new Promise<void>((resolve) => nameServer.bind(0, ownAddress, resolve));
      const server = `${ownAddress}:${nameServer.address().port}`;

      await using network =
        kind === 'with one' ? await harness.sandbox.openNetwork(nothing, { identity }) : null;
      const { output } = await run(network, `/opt/tools/node -e "${lookups(server)}"`);

      expect(output).toMatch(/^E[A-Z_]+ E[A-Z]+ \d+\n$/);
      // Time-outs of resolvers begin at five seconds, and this one waits for twenty.
      expect(Number(output.split(' ').at(-1))).toBeLessThan(4500);
      expect(asked).toEqual([]);

      // From outside the same question arrives, so the silence above says something.
      const resolver = new Resolver({ timeout: 20_000, tries: 1 });
      resolver.setServers([server]);
      const answer = resolver.resolve4('registry.example').catch(() => null);
      await until('the question of the host', () => asked.length > 0);
      resolver.cancel();
      await answer;
      nameServer.close();
    },
  );
});

describe('what holds a network', () => {
  const self = readProcesses().find(({ pid }) => pid === process.pid);
  if (!self) throw new Error('this process is not in /proc');
  const never = new AbortController().signal;

  /** Says what it is given, and ends when it is told to. */
  async function hold(
    say: (holder: Holder) => void,
    options: { signal?: AbortSignal; timeLimitMs?: number } = {},
  ) {
    let hasEnded = false;
    const start = (holder: Holder) => {
      say(holder);
      return new Promise<SandboxResult>((resolve) => {
        const end = () => {
          hasEnded = true;
          resolve({ kind: 'stopped', exitCode: null, durationMs: 1, usage: notMeasured });
        };
        holder.signal.addEventListener('abort', end, { once: true });
      });
    };
    const problem = await holdNetwork(start, {
      isPrivileged: true,
      signal: never,
      timeLimitMs: 15_000,
      ...options,
    }).then(() => 'it is open', String);
    return { problem, hasEnded };
  }
  // It got as far as the namespace, and this process has none of its own.
  const gotThere = { problem: 'Error: the network namespace of the forwarder was not found', hasEnded: true };

  it('is not taken for ended when the forwarder is heard before its process is known', async () => {
    const held = await hold(({ onStarted, onOutput }) => {
      onOutput('stdout', Buffer.from('listening\n'));
      setImmediate(() => onStarted(self));
    });
    expect(held).toEqual(gotThere);
  });

  it('may be preceded by warnings, in pieces, on either stream', async () => {
    const held = await hold(({ onStarted, onOutput }) => {
      onStarted(self);
      onOutput('stderr', Buffer.from('prlimit: a warning\nlist'));
      onOutput('stdout', Buffer.from('a word\nlist'));
      onOutput('stdout', Buffer.from('ening\n'));
    });
    expect(held).toEqual(gotThere);
  });

  it('is given up after a while, and with it what was started', async () => {
    const mute = ({ onStarted, onOutput }: Holder) => {
      onStarted(self);
      onOutput('stderr', Buffer.from('listening\n'));
    };
    expect(await hold(mute, { timeLimitMs: 50 })).toEqual({
      problem: 'Error: the network of the run was not open within 0.05 s',
      hasEnded: true,
    });
  });

  it('is given up when the run is stopped, before or meanwhile', async () => {
    const given = { problem: 'Error: it was stopped while its network was opened', hasEnded: true };
    const stop = new AbortController();
    const stopping = ({ onStarted }: Holder) => {
      onStarted(self);
      setImmediate(() => stop.abort());
    };
    expect(await hold(stopping, { signal: stop.signal })).toEqual(given);
    expect(await hold(() => {}, { signal: AbortSignal.abort() })).toEqual(given);
  });
});

describe('a network that is slow to open', () => {
  it('makes its commands unavailable and says so', async () => {
    using slow = await createHarness({ networkOpeningMs: 0 });
    await using network = await slow.sandbox.openNetwork(nothing, { identity });
    const result = await slow.sandbox.run({
      ...{ identity, network, mounts: [], workingDirectory: '/tmp', limits: testLimits },
      ...{ argv: ['true'], environment: {}, onOutput: () => {}, signal: new AbortController().signal },
    });

    expect(result).toMatchObject({
      kind: 'unavailable',
      message: 'the network of the run was not open within 0 s',
    });
    expect(holders()).toEqual([]);
  });

  it('is given up when its run is stopped, whose commands are stopped then', async () => {
    const stop = new AbortController();
    const opening = harness.sandbox.openNetwork(nothing, { identity, signal: stop.signal });
    stop.abort();
    await using network = await opening;
    const result = await harness.sandbox.run({
      ...{ identity, network, mounts: [], workingDirectory: '/tmp', limits: testLimits },
      ...{ argv: ['true'], environment: {}, onOutput: () => {}, signal: stop.signal },
    });

    expect(result.kind).toBe('stopped');
    expect(await run(network, 'true')).toMatchObject({ result: { kind: 'unavailable' } });
    expect(holders()).toEqual([]);
  });
});
