/**
 * What hostile code tries, as far as every change has to prove it; test/hostile tries far more. Where it can, each test
 * looks for evidence outside the sandbox.
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endLeftovers, leftoverMark } from '../../src/sandbox/leftovers.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import type { Mount } from '../../src/sandbox/sandbox.ts';
import { createHarness, type Harness, processesWith, runIn, script, sleepMarker, until } from './harness.ts';

const serverProgram = fileURLToPath(import.meta.resolve('./server-process.ts'));

let harness: Harness;
let workspace: Mount;
beforeAll(async () => {
  harness = await createHarness();
  workspace = { source: harness.workspace, target: '/workspace', writable: true };
});
afterAll(() => harness[Symbol.dispose]());

const inside = async (text: string) =>
  await runIn(harness.sandbox, script(text), { mounts: [workspace], workingDirectory: '/workspace' });

describe('descriptors of the server', () => {
  it('are refused while they would leak, and do not reach commands once they are closed', async () => {
    const leaked = openSync('/', 'r');
    // Node closes the first 16 to its children by itself, as it happens, but not what comes after a gap.
    const gap = Array<'ignore'>(27).fill('ignore');
    const server = spawn(process.execPath, [serverProgram, 'leak', harness.root], {
      stdio: ['ignore', 'pipe', 'inherit', ...gap, leaked],
    });
    closeSync(leaked);
    const answer = JSON.parse(await textOf(server));

    expect(answer.before).toMatchObject({ kind: 'unavailable', output: '' });
    expect(answer.before.message).toMatch(/would leak .*30 \(\/\)\. Call closeInheritedDescriptors/);
    expect(answer.closed).toEqual([30]);
    expect(answer.after).toMatchObject({ kind: 'exited', output: '0 1 2 3 ' });
  });
});

describe('closing descriptors at the start', () => {
  it('leaves alone what Node itself is reading, which has no mark either', async () => {
    const bundle = '/etc/ssl/certs/ca-certificates.crt';
    const text = [
      `import { closeInheritedDescriptors } from ${JSON.stringify(import.meta.resolve('../../src/sandbox/descriptors.ts'))};`,
      'closeInheritedDescriptors();',
      "const { getCACertificates } = await import('node:tls');",
      "console.log(getCACertificates('extra').length);",
    ].join('\n');
    const wanted = existsSync(bundle) ? readFileSync(bundle, 'latin1').split('-----BEGIN').length - 1 : 0;
    // It went wrong in one start of four.
    const starts = Array.from({ length: 12 }, () => {
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', text], {
        env: existsSync(bundle) ? { NODE_EXTRA_CA_CERTS: bundle } : {},
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return textOf(child);
    });

    expect(await Promise.all(starts)).toEqual(starts.map(() => `${wanted}\n`));
  });
});

describe('secrets of the environment', () => {
  it('are in no process of the sandbox but the command and its children', async () => {
    const { stdout } = await runIn(
      harness.sandbox,
      script('grep -l hidden-[v]alue /proc/1/cmdline /proc/2/cmdline /proc/1/environ 2>/dev/null; echo end'),
      { environment: { PATH: '/usr/bin:/bin', TOKEN: 'hidden-value' } },
    );

    expect(stdout).toBe('end\n');
  });

  it('cannot steer the processes that start the sandbox', async () => {
    const environment = {
      PATH: '/usr/bin:/bin',
      LD_PRELOAD: '/workspace/evil.so',
      BASH_ENV: '/workspace/evil.sh',
    };
    const { result, stderr } = await runIn(harness.sandbox, ['true'], { environment });

    expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(stderr.match(/evil\.so/g)).toHaveLength(1);
  });

  it('cannot steer the forwarder', async () => {
    const environment = {
      PATH: '/usr/bin:/bin',
      NODE_OPTIONS: '--no-such-option',
      NODE_EXTRA_CA_CERTS: '/nowhere',
    };
    const { result, stderr } = await runIn(harness.sandbox, ['true'], {
      environment,
      network: { mode: 'public', allowedHosts: [] },
    });

    expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(stderr).toBe('');
  });
});

describe('symlinks in the workspace', () => {
  it('lead nowhere outside when a command starts in one', async () => {
    mkdirSync(join(harness.root, 'closed', 'state'));
    writeFileSync(join(harness.root, 'closed', 'state', 'key'), 'key of the server');
    symlinkSync(join(harness.root, 'closed', 'state'), join(harness.workspace, 'link'));
    const { result, stdout } = await runIn(harness.sandbox, script('cat key; cat /workspace/link/key'), {
      mounts: [workspace],
      workingDirectory: '/workspace/link',
    });

    expect(result.kind).toBe('unavailable');
    expect(stdout).not.toContain('key of the server');
  });

  it('cannot become mount points or sources, because such mounts are refused', async () => {
    symlinkSync('/etc', join(harness.workspace, 'steer'));
    const run = (mounts: readonly Mount[]) => runIn(harness.sandbox, ['true'], { mounts });

    await expect(
      run([workspace, { source: '/usr/share', target: '/workspace/steer/slipway', writable: false }]),
    ).rejects.toThrow('below the writable /workspace');
    await expect(
      run([workspace, { source: join(harness.workspace, 'steer'), target: '/git', writable: false }]),
    ).rejects.toThrow('which the command can write');
    expect(existsSync('/etc/slipway')).toBe(false);
  });
});

describe('processes', () => {
  it('do not outlive the command as daemons', async () => {
    const marker = sleepMarker();
    const { result } = await inside(
      `setsid nohup sleep ${marker} >/dev/null 2>&1 & disown; (setsid sleep ${marker} &) & exit 0`,
    );

    expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(processesWith(marker)).toEqual([]);
  });

  it('of a killed server are ended by the next, and those of others are not', async () => {
    const directory = join(harness.root, 'former');
    const [mine, other] = [directory, `${directory}-2`].map((path) => {
      const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | null>();
      const child = spawn('sleep', ['60'], { env: leftoverMark(path), stdio: 'ignore' });
      child.once('exit', (_code, signal) => resolve(signal));
      return { child, ended: promise };
    });
    await until('both', () => mine?.child.pid !== undefined && other?.child.pid !== undefined);

    expect(await until('the mark to be there', () => endLeftovers(directory))).toBe(1);
    expect(await mine?.ended).toBe('SIGKILL');
    expect(other?.child.signalCode).toBeNull();
    other?.child.kill('SIGTERM');
    expect(await other?.ended).toBe('SIGTERM');
  });

  it('bear their mark outside the sandbox only', async () => {
    const marker = sleepMarker();
    const running = inside(`env | grep -c SLIPWAY; sleep ${marker}; true`);
    await until('the command', () => processesWith(`sleep\0${marker}`).length > 0);
    const ended = endLeftovers(join(harness.root, 'sandbox'));
    const { result, stdout } = await running;

    expect(ended).toBeGreaterThan(0);
    expect(stdout).toBe('0\n');
    expect(result).toMatchObject({ kind: 'killed' });
    expect(processesWith(marker)).toEqual([]);
  });
});

describe('the network of the host', () => {
  it('is out of reach, loopback and abstract sockets alike', async () => {
    const hits: string[] = [];
    const tcp = createServer((socket) => socket.on('error', () => {}).end(() => hits.push('tcp')));
    const abstract = createServer((socket) => socket.on('error', () => {}).end(() => hits.push('abstract')));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const name = `slipway-${process.pid}`;
    await new Promise<void>((resolve) => abstract.listen(`\0${name}`, resolve));
    const address = tcp.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const attack = [
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null`,
      `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("\\0${name}"))'`,
      'true',
    ].join('\n');

    const plain = await runIn(createNoSandbox(), script(attack));
    await until('the attack without a sandbox', () => hits.includes('tcp'));
    const before = hits.length;
    const { result } = await inside(attack);
    const { result: networked } = await runIn(harness.sandbox, script(attack), {
      network: { mode: 'public', allowedHosts: ['127.0.0.1'] },
    });
    tcp.close();
    abstract.close();

    expect([plain.result.kind, result.kind, networked.kind]).toEqual(['exited', 'exited', 'exited']);
    expect(hits.length).toBe(before);
  });
});

describe('the kernel', () => {
  it('gives no namespaces, mounts or devices', async () => {
    const attempts = [
      'unshare -Ur true',
      'unshare -n true',
      'mount -t tmpfs none /mnt',
      'mount --bind /usr /tmp',
      'mknod /tmp/disk b 254 0',
      'chroot / true',
      'nsenter -t 1 -m true',
      'su -c true',
    ];
    const { stdout } = await inside(
      attempts.map((attempt) => `${attempt} >/dev/null 2>&1 && echo "${attempt}"`).join('\n'),
    );

    expect(stdout).toBe('');
  });

  it.runIf(process.arch === 'x64' && existsSync('/usr/bin/perl'))(
    'refuses what only attackers call',
    async () => {
      const calls: Record<string, [call: string, errno: number]> = {
        'AF_VSOCK, which ignores network namespaces': ['41, 40, 1, 0', 97],
        AF_PACKET: ['41, 17, 3, 0', 97],
        AF_ALG: ['41, 38, 5, 0', 97],
        ptrace: ['101, 0, 0, 0, 0', 1],
        io_uring_setup: ['425, 8, 0', 1],
        'add_key (outlives the run)': ['248, 0, 0, 0, 0, -3', 1],
        bpf: ['321, 0, 0, 0', 1],
        'clone with CLONE_NEWUSER': ['56, 0x10000011, 0, 0, 0, 0', 1],
        'clone3, whose flags no filter can read': ['435, 0, 0', 38],
        'TIOCSTI, typing into a terminal': ['16, 0, 0x5412, 0', 1],
        'TIOCSTI with high bits set': ['16, 0, 0x100005412, 0', 1],
        open_by_handle_at: ['304, 3, 0, 0', 1],
        'x32 calls': ['0x40000000 | 39', 38],
      };
      const lines = Object.entries(calls).map(
        ([name, [call]]) => `$! = 0; syscall(${call}); print "${name}: " . ($! + 0) . "\\n";`,
      );
      const { stdout } = await runIn(harness.sandbox, ['perl', '-e', lines.join('\n')]);

      expect(stdout.trim().split('\n')).toEqual(
        Object.entries(calls).map(([name, [, errno]]) => `${name}: ${errno}`),
      );
    },
  );
});

describe('the terminal', () => {
  it('is not there', async () => {
    const { stdout } = await inside('(exec 3<>/dev/tty) 2>&1; ps -o sid= -p $$ 2>/dev/null; echo end');

    expect(stdout).toContain('No such device or address');
  });
});

it('leaves nothing in the directory of the sandbox but its own files', async () => {
  await runIn(harness.sandbox, ['true'], { network: { mode: 'public', allowedHosts: [] } });

  expect(readdirSync(join(harness.root, 'sandbox'))).toEqual(['inside']);
  expect(readFileSync(join(harness.root, 'sandbox', 'inside', 'hosts'), 'utf8')).toContain('localhost');
});

async function textOf(server: ReturnType<typeof spawn>): Promise<string> {
  let text = '';
  server.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await new Promise((resolve) => server.once('close', resolve));
  return text;
}
