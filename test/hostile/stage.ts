/** What surrounds a server on its machine, each thing with a secret in it or with somebody who listens. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ordinaryLimits } from './drivers.ts';
import type { Driver, ListenerName } from './scene.ts';

export interface Stage extends AsyncDisposable {
  readonly state: string;
  readonly neighbour: string;
  readonly targets: Readonly<Record<string, string>>;
  /** What came in since the start. */
  readonly heard: (listener: ListenerName) => string;
  readonly typed: () => string;
  /** A process that a program may attack; ended by `endVictim`. */
  readonly startVictim: () => ChildProcess;
}

export const metadataAddress = '169.254.169.254';
/** Of this machine, and not loopback. Only in a network namespace of the test's own. */
export const hostAddress = '203.0.113.7';
const neighbourRun = 'neighbour';

export async function setUpStage(parts: {
  readonly root: string;
  readonly secret: string;
  readonly driver: Driver;
  readonly hasNamespaces: boolean;
}): Promise<Stage> {
  const { root, secret, driver, hasNamespaces } = parts;
  const state = join(root, 'state');
  mkdirSync(state, { mode: 0o700 });
  for (const name of ['slipway.db', 'secret.key']) {
    writeFileSync(join(state, name), `${name}: ${secret}\n`, { mode: 0o600 });
  }
  const neighbour = join(root, 'neighbour');
  mkdirSync(neighbour, { mode: 0o700 });
  writeFileSync(join(neighbour, 'main.tf'), `password = "${secret}"\n`);
  await driver.own(neighbour, neighbourRun);

  const heard = new Map<ListenerName, string>();
  const hear = (name: ListenerName) => (chunk: Buffer) =>
    void heard.set(name, `${heard.get(name) ?? ''}${chunk.toString('latin1')}`);
  const servers: Server[] = [];
  const listen = async (name: ListenerName, where: { host?: string; port?: number; path?: string }) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy()).on('data', hear(name));
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${secret}\n`);
    });
    servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(where, resolve);
    });
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  const port = await listen('loopback', { host: '127.0.0.1', port: 0 });
  const abstract = `hostile-${process.pid}`;
  await listen('abstract', { path: `\0${abstract}` });
  const docker = join(root, 'docker.sock');
  await listen('docker', { path: docker });
  chmodSync(docker, 0o666);
  const datagrams = createSocket('udp4');
  if (hasNamespaces) {
    await listen('loopback6', { host: '::1', port }).catch(() => undefined);
    await listen('metadata', { host: metadataAddress, port: 80 });
    await listen('host', { host: hostAddress, port: 80 });
    datagrams.on('message', hear('datagram')).bind(53, hostAddress);
    await once(datagrams, 'listening');
  }
  // The traffic of the server itself.
  const talking = setInterval(() => datagrams.send(secret, 9, '127.0.0.1', () => {}), 100);

  const helper = spawn('python3', ['-c', helperProgram, join(state, 'slipway.db'), secret], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(helper.stdout);
  const [first] = await once(lines, 'line');
  const made: { tty: string; segment: string; handle: string } = JSON.parse(String(first));
  let typed = '';
  lines.on('line', (line) => {
    typed += line;
  });

  const stop = new AbortController();
  const beside = driver.run({
    argv: ['sleep', '600'],
    environment: { PATH: '/usr/bin:/bin', TOKEN: secret },
    ...{ workspace: neighbour, run: neighbourRun, access: null, signal: stop.signal },
    limits: { ...ordinaryLimits, wallMs: 600_000 },
  });

  return {
    ...{ state, neighbour },
    targets: {
      ROOT: root,
      STATE: state,
      NEIGHBOUR: neighbour,
      SERVER_PID: String(process.pid),
      PORT: String(port),
      ABSTRACT: abstract,
      DOCKER: docker,
      METADATA: metadataAddress,
      HOST: hostAddress,
      TTY: made.tty,
      SEGMENT: made.segment,
      HANDLE: made.handle,
    },
    heard: (name) => heard.get(name) ?? '',
    typed: () => typed,
    startVictim() {
      const file = openSync(join(state, 'secret.key'), 'r');
      const gap = Array<'ignore'>(6).fill('ignore');
      const stdio = ['ignore', 'ignore', 'ignore', ...gap, file] as const;
      const victim = spawn('sleep', ['600'], {
        env: { PATH: '/usr/bin:/bin', TOKEN: secret },
        stdio: [...stdio],
      });
      closeSync(file);
      return victim;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(talking);
      stop.abort();
      helper.stdin.end();
      datagrams.close();
      for (const server of servers) server.close();
      await Promise.all([beside, once(helper, 'close')]);
    },
  };
}

/** A terminal, a shared memory segment with the secret, and the number by which the kernel knows the database file. */
const helperProgram = `
import ctypes, json, os, pty, select, sys, tty
libc = ctypes.CDLL(None, use_errno=True)
path, secret = sys.argv[1].encode(), sys.argv[2].encode()
number = {"x86_64": 303, "aarch64": 264}.get(os.uname().machine, -1)
handle = ctypes.create_string_buffer(b"\\x80\\0\\0\\0", 136)
mount = ctypes.c_int()
known = libc.syscall(number, -100, path, handle, ctypes.byref(mount), 0) == 0
segment = libc.shmget(0, 4096, 0o1600)
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(segment, None, 0)
ctypes.memmove(ctypes.c_void_p(address), secret, len(secret))
master, slave = pty.openpty()
tty.setraw(slave)
print(json.dumps({"tty": os.ttyname(slave), "segment": str(segment), "handle": handle.raw.hex() if known else ""}), flush=True)
while True:
    ready, _, _ = select.select([0, slave], [], [])
    if slave in ready:
        print(os.read(slave, 1000).decode("latin1"), flush=True)
    if 0 in ready and os.read(0, 1) == b"":
        break
libc.shmctl(segment, 0, None)
`;
