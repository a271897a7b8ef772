import { describe, expect, it } from 'vitest';
import { sandboxArguments } from '../../../src/sandbox/launching/arguments.ts';
import type { HostTree } from '../../../src/sandbox/launching/host-tree.ts';
import { launchCommand, parseHardLimits, stagedMounts } from '../../../src/sandbox/launching/launch.ts';
import { orderMounts } from '../../../src/sandbox/launching/mounts.ts';
import { userOfRun, userRange } from '../../../src/sandbox/launching/run-identity.ts';
import type { Mount } from '../../../src/sandbox/sandbox.ts';
import { testLimits } from '../harness.ts';

const mount = (source: string, target: string, writable = false): Mount => ({ source, target, writable });

describe('mounts', () => {
  it('are ordered so that parents come first', () => {
    const ordered = orderMounts([mount('/b', '/a/b/c'), mount('/a', '/a'), mount('/c', '/c', true)]);

    expect(ordered.map(({ target }) => target)).toEqual(['/a', '/c', '/a/b/c']);
  });

  it.each([
    ['a relative source', [mount('data', '/a')]],
    ['a source with dots', [mount('/data/../etc', '/a')]],
    ['a relative target', [mount('/data', 'a')]],
    ['a target with dots', [mount('/data', '/a/..')]],
    ['a target that ends in a slash', [mount('/data', '/a/')]],
    ['the root', [mount('/data', '/')]],
    ['a directory of the system', [mount('/data', '/usr/lib/x')]],
    ['/etc', [mount('/data', '/etc')]],
    ['/proc', [mount('/data', '/proc/1')]],
    ["the sandbox's own directory", [mount('/data', '/opt/slipway')]],
    ['the same target twice', [mount('/data', '/a'), mount('/other', '/a')]],
    ['a target below a writable one', [mount('/data', '/a', true), mount('/other', '/a/b')]],
    ['a writable target below a writable one', [mount('/data', '/a', true), mount('/other', '/a/b', true)]],
    ['a source in a writable one', [mount('/data', '/a', true), mount('/data/b', '/b')]],
  ])('refuse %s', (_name, mounts) => {
    expect(() => orderMounts(mounts)).toThrow(/^mount /);
  });

  it('take a writable one below a read-only one, and names that only begin alike', () => {
    expect(orderMounts([mount('/data', '/a'), mount('/out', '/a/out', true)])).toHaveLength(2);
    expect(orderMounts([mount('/data', '/work', true), mount('/data-2', '/workspace')])).toHaveLength(2);
  });
});

describe('the arguments of bwrap', () => {
  const host: HostTree = {
    links: [],
    directories: ['/usr'],
    optional: [],
    mounts: [],
    holderMounts: [],
    hasCertificates: false,
  };
  const tree = {
    ...{ host, mounts: [], temporaryBytes: 1024, workingDirectory: '/', environment: {} },
    network: 'none',
  } as const;

  it('end with the root made read-only, after every mount', () => {
    const args = sandboxArguments({ ...tree, mounts: [mount('/data', '/a', true)] });

    expect(args.slice(-2)).toEqual(['--remount-ro', '/']);
    expect(args.indexOf('/data')).toBeGreaterThan(args.indexOf('--proc'));
  });

  it('leave the network namespace alone only when the launch has entered one', () => {
    expect(sandboxArguments(tree)).toContain('--unshare-net');
    expect(sandboxArguments({ ...tree, network: 'joined' })).not.toContain('--unshare-net');
  });

  it('clear the environment before they set it', () => {
    const args = sandboxArguments({ ...tree, environment: { A: '1' } });

    expect(args.slice(args.indexOf('--clearenv'), args.indexOf('--clearenv') + 4)).toEqual([
      '--clearenv',
      '--setenv',
      'A',
      '1',
    ]);
  });

  it.each([
    ['A=B', 'x'],
    ['', 'x'],
    ['A', 'x\0--bind\0/\0/host'],
    ['A\0--bind', 'x'],
  ])('refuse the variable %j with the value %j, which could become other arguments', (name, value) => {
    expect(() => sandboxArguments({ ...tree, environment: { [name]: value } })).toThrow(
      'cannot be an environment variable',
    );
  });
});

describe('the launch', () => {
  const plan = {
    bwrap: 'bwrap',
    limits: { ...testLimits, processes: 100, dataBytes: 2000, fileBytes: 3000 },
    hardLimits: { data: 1500 },
    cgroup: null,
    mounts: [mount('/closed/workspace', '/workspace', true)],
    outerStatus: 8,
    join: null,
    descriptorOptions: ['--args', '3'],
    argv: ['pulumi', 'preview'],
  };

  it('of an unprivileged server does not count its own threads, and stays below its hard limits', () => {
    expect(launchCommand({ ...plan, user: null }).join(' ')).toBe(
      'nice -n 10 choom -n 800 -- prlimit --data=1500:1500 --fsize=3000:3000 --core=0:0 bwrap --args 3 -- pulumi preview',
    );
    expect(stagedMounts(plan.mounts, null)).toBe(plan.mounts);
  });

  it('enters the network of the run before anything else, of an unprivileged server by its user namespace', () => {
    const join = { network: '/proc/1/fd/20', user: null };

    expect(launchCommand({ ...plan, user: 5000, join }).join(' ')).toMatch(
      /^nice -n 10 choom -n 800 -- nsenter --net=\/proc\/1\/fd\/20 -- bwrap --unshare-pid /,
    );
    expect(
      launchCommand({ ...plan, user: null, join: { ...join, user: '/proc/1/fd/21' } }).join(' '),
    ).toMatch(
      /^nice -n 10 choom -n 800 -- nsenter --user=\/proc\/1\/fd\/21 --preserve-credentials --net=\/proc\/1\/fd\/20 -- prlimit /,
    );
  });

  it('enters the cgroup of the command before anything else, root or not', () => {
    const cgroup = '/sys/fs/cgroup/slipway/sandbox-7-1';
    for (const user of [null, 5000]) {
      expect(launchCommand({ ...plan, user, cgroup }).slice(0, 5)).toEqual([
        ...['sh', '-c', 'echo 0 > "$0/cgroup.procs" && exec "$@"', cgroup, 'nice'],
      ]);
    }
  });

  it('of a root server stages what the user of the run could not reach', () => {
    const command = launchCommand({ ...plan, user: 5000 }).join(' ');

    expect(command).toContain(
      '--bind /closed/workspace /tmp/0 -- setpriv --reuid 5000 --regid 5000 --clear-groups -- prlimit --nproc=100:100',
    );
    expect(stagedMounts(plan.mounts, 5000)).toEqual([mount('/tmp/0', '/workspace', true)]);
  });

  it('reads hard limits from the text of the kernel', () => {
    const text =
      'Limit                     Soft Limit           Hard Limit           Units     \nMax processes             96365                96366                processes \nMax data size             unlimited            unlimited            bytes     \n';

    expect(parseHardLimits(text)).toEqual({ nproc: 96366 });
  });
});

describe('the user of a run', () => {
  it('is always the same, and out of the range of everybody else', () => {
    const range = userRange('         0          0 4294967295\n');

    expect(range).toEqual({ first: 0x70000000, count: 0x08000000 });
    expect(range && userOfRun('run-1', range)).toBe(range && userOfRun('run-1', range));
    expect(range && userOfRun('run-1', range)).not.toBe(range && userOfRun('run-2', range));
  });

  it('is one that exists in a container, and none where there is no room', () => {
    expect(userRange('0 100000 65536\n')).toEqual({ first: 32768, count: 32768 });
    expect(userRange('0 1000 1\n1 100000 65536\n')).toEqual({ first: 32769, count: 32768 });
    expect(userRange('0 1000 1\n')).toBeNull();
  });
});
