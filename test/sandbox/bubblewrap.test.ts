import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import type { Mount } from '../../src/sandbox/sandbox.ts';
import {
  createHarness,
  type Harness,
  isRoot,
  processesWith,
  runIn,
  script,
  sleepMarker,
  testLimits,
  until,
} from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness[Symbol.dispose]());

const inside = async (text: string, mounts: readonly Mount[] = []) => {
  const { result, stdout, stderr } = await runIn(harness.sandbox, script(text), { mounts });
  return { ...result, stdout, stderr };
};

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();

describe('what a command sees', () => {
  it('is an allow-list of the file tree', async () => {
    const { stdout } = await inside('ls -A / /etc /opt /var /home /run 2>/dev/null | sort -u | tr "\\n" " "');

    const host = ['root', 'srv', 'boot', 'mnt', 'media', 'sys', 'shadow', 'hostname', 'ssh', 'work', 'run'];
    expect(stdout.split(' ').filter((name) => host.includes(name))).toEqual([]);
    expect(stdout).toContain('usr');
  });

  it('is nothing of the host in /etc that names its users', async () => {
    const { stdout } = await inside('cat /etc/passwd /etc/hosts; id -un; echo ~');

    expect(stdout).toContain('runner:x:1000:1000');
    expect(stdout.match(/^root:.*$/m)?.[0]).toBe('root:x:0:0:root:/root:/usr/sbin/nologin');
    expect(stdout).toMatch(/\nrunner\n\/home\/runner\n$/);
  });

  it('is its own processes only, without capabilities or ways to get them', async () => {
    const { stdout } = await inside(
      'ls -d /proc/[0-9]* | wc -l; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr -s "\\t" " "',
    );

    const [count, ...lines] = stdout.trim().split('\n');
    expect(Number(count)).toBeLessThan(6);
    expect(lines).toEqual([
      ...['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => `${name}: 0000000000000000`),
      'NoNewPrivs: 1',
      'Seccomp: 2',
    ]);
  });

  it.each([{ mode: 'none' }, { mode: 'public', allowedHosts: [] }] as const)(
    'is no descriptor but stdin, stdout and stderr, with network %j',
    async (network) => {
      const look =
        'ls /proc/self/fd | tr "\\n" " "; find /proc/[0-9]*/fd -type l -printf "%l\\n" 2>/dev/null >seen; grep / seen';
      const { stdout } = await runIn(harness.sandbox, script(look), { network });

      const [own = '', ...files] = stdout.trim().split('\n');
      expect(own).toMatch(/^0 1 2 3 /);
      expect(
        [own.slice('0 1 2 3 '.length), ...files].filter(
          (path) => !/^(\/dev\/null|\/proc\/.*|\/tmp(\/seen)?)$/.test(path),
        ),
      ).toEqual([]);
    },
  );

  it('is writable only where it is private or mounted so', async () => {
    const { stdout } = await inside(
      'for d in / /usr /etc /dev /opt /var /home /proc /dev/shm /tmp /home/runner; do (touch $d/x) 2>/dev/null && echo $d; done',
    );

    expect(stdout.trim().split('\n')).toEqual(['/dev/shm', '/tmp', '/home/runner']);
  });

  it('has sized private directories', async () => {
    const { stdout } = await inside(
      'for d in /dev/shm /tmp /home/runner; do head -c 400000000 /dev/zero > $d/x 2>/dev/null; stat -c %s $d/x; rm $d/x; done',
    );

    expect(
      stdout
        .trim()
        .split('\n')
        .map((bytes) => Number(bytes) >> 20),
    ).toEqual([16, 256, 64]);
  });

  it('has a mount in place of /tmp and of the home directory when one is given', async () => {
    const mount = { source: harness.workspace, target: '/home/runner', writable: true };
    const { stdout } = await inside('touch ~/kept; stat -f -c %T /home/runner /tmp', [mount]);

    expect(stdout.split('\n')[0]).not.toBe('tmpfs');
    expect(readdirSync(harness.workspace)).toContain('kept');
  });

  it('has limits of the kernel', async () => {
    const limits = { ...testLimits, processes: 99, fileBytes: 1024 * 1024, dataBytes: 2 ** 31 };
    const { stdout, result } = await runIn(
      harness.sandbox,
      script('ulimit -u; ulimit -d; ulimit -f; ulimit -c; head -c 2000000 /dev/zero > x; stat -c %s x'),
      { limits },
    );

    expect(result.kind).toBe('exited');
    expect(stdout.trim().split('\n')).toEqual(['99', '2097152', '1024', '0', '1048576']);
  });

  it('leaves the processor to the server, also where the kernel shares it by session', async () => {
    const lowered = 'until grep -q "nice 5" /proc/self/autogroup; do sleep 0.1; done';
    const { result, stdout } = await runIn(
      harness.sandbox,
      script(`nice; [ ! -e /proc/self/autogroup ] || ${lowered}`),
    );

    expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(Number(stdout)).toBeGreaterThanOrEqual(10);
  });

  it('cannot bomb the machine with forks, and nothing of a bomb is left', async () => {
    const marker = sleepMarker();
    const running = runIn(
      harness.sandbox,
      // bash waits for seconds before it gives up on a fork, so each gets a parent of its own.
      script(
        `bomb() { (exec sleep ${marker}) & (sleep 0.2; bomb) & (sleep 0.2; bomb) & }; bomb 2>/dev/null; sleep 3; ls -d /proc/[0-9]* | wc -l`,
      ),
      { limits: { ...testLimits, processes: 60, wallMs: 2500 } },
    );

    let peak = 0;
    const counting = setInterval(() => {
      peak = Math.max(peak, processesWith(marker).length);
    }, 50);
    const { result } = await running;
    clearInterval(counting);

    expect(result.kind).toBe('timeout');
    expect(peak).toBeGreaterThan(10);
    // With the processes outside that carry the same command line.
    expect(peak).toBeLessThanOrEqual(66);
    expect(processesWith(marker)).toEqual([]);
  });

  it('has loopback of its own, up', async () => {
    const { stdout } = await inside(
      '(exec 3<>/dev/tcp/127.0.0.1/9) 2>&1 | tail -n1; tail -n +3 /proc/net/dev | cut -d: -f1',
    );

    expect(stdout).toContain('Connection refused');
    expect(stdout.trim().split('\n').at(-1)?.trim()).toBe('lo');
  });
});

describe('mounts', () => {
  it('work although a parent is closed to everyone but the server', async () => {
    // harness.workspace lies below a 0700 directory of the server; as root, runs have another user.
    const tool = join(harness.root, 'closed', 'tool');
    mkdirSync(tool);
    writeFileSync(join(tool, 'say'), '#!/bin/sh\necho found; id -u; ls /proc/self/fd | tr "\\n" " "\n', {
      mode: 0o755,
    });
    const mounts = [
      { source: tool, target: '/opt/tools/say', writable: false },
      { source: harness.workspace, target: '/workspace', writable: true },
    ];
    const { stdout } = await runIn(harness.sandbox, ['/opt/tools/say/say'], {
      mounts,
      workingDirectory: '/workspace',
    });

    expect(stdout).toBe('found\n1000\n0 1 2 3 ');
  });

  it('are read-only unless they say otherwise', async () => {
    const mount = { source: harness.workspace, target: '/workspace', writable: false };
    const { stdout } = await inside('touch /workspace/x 2>&1; mount -o remount,rw /workspace 2>&1', [mount]);

    expect(stdout).toContain('Read-only file system');
    expect(stdout).not.toMatch(/^$/);
    expect(readdirSync(harness.workspace)).not.toContain('x');
  });

  it('leave the table of mounts of this machine alone', async () => {
    const before = readFileSync('/proc/self/mountinfo', 'utf8');
    const marker = sleepMarker();
    const stop = new AbortController();
    const mounts = [{ source: harness.workspace, target: '/workspace', writable: true }];
    const running = runIn(harness.sandbox, ['sleep', marker], { mounts, signal: stop.signal });
    await until('the command', () => processesWith(marker).length > 0);
    const during = readFileSync('/proc/self/mountinfo', 'utf8');
    stop.abort();
    await running;

    expect(during).toBe(before);
  });

  it('may be single files, and may be many', async () => {
    const file = join(harness.root, 'plan');
    writeFileSync(file, 'plan');
    const mounts = Array.from({ length: 40 }, (_, index) => ({
      source: file,
      target: `/run/plans/${index}`,
      writable: false,
    }));
    const { stdout } = await inside('cat /run/plans/* | wc -c', mounts);

    expect(stdout.trim()).toBe('160');
  });

  it('say which one is missing', async () => {
    const mounts = [{ source: join(harness.root, 'gone'), target: '/gone', writable: false }];

    expect(await inside('true', mounts)).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('gone'),
    });
  });
});

describe.runIf(isRoot)('a root server', () => {
  it('gives each run a user of its own, the same every time', async () => {
    const place = join(harness.root, 'users');
    mkdirSync(place);
    const users = [];
    for (const key of ['run-a', 'run-a', 'run-b']) {
      const directory = join(place, `${users.length}`);
      mkdirSync(directory, { mode: 0o700 });
      await harness.sandbox.own(directory, { key });
      const mounts = [{ source: directory, target: '/workspace', writable: true }];
      const { result } = await runIn(harness.sandbox, script('touch /workspace/mine'), {
        mounts,
        identity: { key },
      });
      expect(result).toMatchObject({ kind: 'exited', exitCode: 0 });
      users.push(statSync(join(directory, 'mine')).uid);
    }

    expect(users[0]).toBe(users[1]);
    expect(users[2]).not.toBe(users[0]);
    expect(Math.min(...users)).toBeGreaterThanOrEqual(0x7000_0000);
  });

  it('starts nothing of a run as root', async () => {
    const marker = sleepMarker();
    const stop = new AbortController();
    const running = runIn(harness.sandbox, ['sleep', marker], { signal: stop.signal });
    const pids = await until('the command', () => {
      const found = processesWith(`\0${marker}`).filter((pid) => commandOf(pid) === 'sleep');
      return found.length > 0 && found;
    });
    const users = pids.map((pid) => /^Uid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    stop.abort();
    await running;

    expect(users).toHaveLength(1);
    expect(users[0]?.split('\t').every((user) => Number(user) >= 0x7000_0000)).toBe(true);
  });

  it('keeps the user of one run out of what belongs to another', async () => {
    const mine = join(harness.root, 'other-run');
    mkdirSync(mine, { mode: 0o700 });
    await harness.sandbox.own(mine, { key: 'run-a' });
    const mounts = [{ source: mine, target: '/workspace', writable: true }];
    const { result } = await runIn(harness.sandbox, script('ls /workspace'), {
      mounts,
      identity: { key: 'run-b' },
    });

    expect(result).toMatchObject({ kind: 'exited', exitCode: 2 });
  });
});

it.skipIf(isRoot)('needs root to prove that each run has a user of its own', () => {});

describe('a machine without bwrap', () => {
  it('runs nothing and says what to install', async () => {
    const sandbox = createBubblewrap({ directory: join(harness.root, 'none'), bwrap: '/no/such/bwrap' });
    const { result } = await runIn(sandbox, ['true']);

    expect(sandbox.version).toBeNull();
    expect(sandbox.describe()).toBe('bubblewrap: not installed');
    expect(result).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('apt-get install bubblewrap'),
    });
  });
});
