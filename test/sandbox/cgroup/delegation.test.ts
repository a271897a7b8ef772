/** What is decided before the kernel is asked, on directories that stand in for its files; the kernel itself: cgroup.test.ts. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delegateCgroup, leftoverCgroups } from '../../../src/sandbox/cgroup/delegation.ts';
import { cgroupMounts, directoryOf, numberIn, ownCgroup, valueIn } from '../../../src/sandbox/cgroup/tree.ts';
import { describeBubblewrap, shortcomings, tierOf } from '../../../src/sandbox/tier.ts';
import { isRoot, temporaryDirectory } from '../harness.ts';

describe('what the kernel says about control groups', () => {
  it('names our own, of v2 only', () => {
    expect(ownCgroup('4:memory:/old\n0::/system.slice/slipway.service\n')).toBe(
      '/system.slice/slipway.service',
    );
    expect(ownCgroup('4:memory:/old\n')).toBeNull();
    expect(ownCgroup('0::/gone (deleted)\n')).toBeNull();
  });

  it('names where they are mounted, with blanks, and of which part', () => {
    const text = [
      '30 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate',
      '31 23 0:28 /slice /mnt/a\\040b ro,relatime - cgroup2 none rw',
      '32 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '',
    ].join('\n');
    const [whole, part] = cgroupMounts(text);

    expect(cgroupMounts(text)).toHaveLength(2);
    expect(part).toEqual({ root: '/slice', mountPoint: '/mnt/a b', writable: false });
    expect(whole && directoryOf('/slice/x', whole)).toBe('/sys/fs/cgroup/slice/x');
    expect(whole && directoryOf('/', whole)).toBe('/sys/fs/cgroup');
    expect(part && directoryOf('/slice/x', part)).toBe('/mnt/a b/x');
    expect(part && directoryOf('/slice', part)).toBe('/mnt/a b');
    expect(part && directoryOf('/sliced/x', part)).toBeNull();
  });

  it('counts', () => {
    expect(valueIn('low 0\noom 2\noom_kill 12\n', 'oom')).toBe(2);
    expect(valueIn('oom_kill 12\n', 'oom')).toBeNull();
    expect(numberIn('4096\n')).toBe(4096);
    expect(numberIn('max\n')).toBeNull();
    expect(numberIn('')).toBeNull();
  });
});

describe('whether the own cgroup may be divided', () => {
  const pid = 4711;
  let root: string;
  beforeEach(() => {
    root = temporaryDirectory();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** `own`: relative to the mount point. What is not given is as with `Delegate=yes`. */
  const machine = (
    own: string,
    cgroup: {
      readonly controllers?: string;
      readonly processes?: string;
      readonly isWhole?: boolean;
      readonly mount?: string;
    } = {},
  ) => {
    const { controllers = 'cpu memory pids', processes = `${pid}\n`, isWhole = false, mount = 'rw' } = cgroup;
    const proc = join(root, 'proc');
    const directory = join(root, 'cgroup', own);
    for (const path of [proc, directory]) mkdirSync(path, { recursive: true });
    writeFileSync(join(proc, 'cgroup'), `0::/${own}\n`);
    writeFileSync(join(proc, 'mountinfo'), `30 23 0:27 / ${root}/cgroup ${mount} - cgroup2 cgroup2 rw\n`);
    const divided = own.endsWith('/supervisor') ? dirname(directory) : directory;
    writeFileSync(join(directory, 'cgroup.procs'), processes);
    if (divided !== directory) writeFileSync(join(divided, 'cgroup.procs'), '');
    writeFileSync(join(divided, 'cgroup.controllers'), controllers);
    if (!isWhole) writeFileSync(join(divided, 'cgroup.type'), 'domain\n');
    return { divided, delegation: delegateCgroup({ proc, pid }) };
  };
  const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

  it('moves itself out of the way, and hands the controllers on', () => {
    const { divided, delegation } = machine('slipway.service');

    expect(delegation).toEqual({ kind: 'delegated', directory: divided, hasCpu: true });
    expect(read(divided, 'supervisor', 'cgroup.procs')).toBe(String(pid));
    expect(existsSync(join(divided, 'cgroup.subtree_control'))).toBe(true);
  });

  it('stays where systemd has put it out of the way', () => {
    const { divided, delegation } = machine('slipway.service/supervisor');

    expect(delegation).toMatchObject({ kind: 'delegated', directory: divided });
    expect(existsSync(join(divided, 'supervisor', 'supervisor'))).toBe(false);
  });

  it('gets along without shares of processors', () => {
    expect(machine('slipway.service', { controllers: 'memory pids' }).delegation).toMatchObject({
      hasCpu: false,
    });
  });

  it.each([
    ['a machine with controllers of v1', { controllers: '' }, 'has no controller memory, pids'],
    ['a cgroup of others too', { processes: `${pid}\n5\n6\n` }, 'shared with other processes (5, 6)'],
    ['the cgroup of the machine', { isWhole: true }, 'of the whole machine'],
    ['a mount that is read-only', { mount: 'ro,nosuid' }, 'mounted read-only'],
  ])('leaves %s alone, and says why', (_name, cgroup, problem) => {
    const { divided, delegation } = machine('slipway.service', cgroup);

    expect(delegation).toEqual({ kind: 'none', problem: expect.stringContaining(problem) });
    expect(existsSync(join(divided, 'supervisor'))).toBe(false);
  });

  it('says so where there is no cgroup v2, or nothing to be read', () => {
    const proc = join(root, 'proc');
    mkdirSync(proc);
    expect(delegateCgroup({ proc, pid })).toMatchObject({ problem: expect.stringContaining('ENOENT') });
    writeFileSync(join(proc, 'cgroup'), '4:memory:/old\n');
    writeFileSync(join(proc, 'mountinfo'), '');
    expect(delegateCgroup({ proc, pid })).toMatchObject({ problem: expect.stringContaining('no cgroup v2') });
  });

  it('undoes what it did when the controllers are refused', () => {
    // A file that cannot be written, by root either.
    mkdirSync(join(root, 'cgroup', 'slipway.service'), { recursive: true });
    symlinkSync('/nowhere/at/all', join(root, 'cgroup', 'slipway.service', 'cgroup.subtree_control'));
    const { divided, delegation } = machine('slipway.service');

    expect(delegation).toEqual({
      kind: 'none',
      problem: expect.stringContaining('was not delegated to it (ENOENT)'),
    });
    expect(read(divided, 'cgroup.procs')).toBe(String(pid));
  });

  it('takes for leftovers what no other process of the server’s cgroup answers for', () => {
    const { divided } = machine('slipway.service/supervisor', { processes: `${pid}\n77\n` });
    for (const name of ['sandbox-12-1', `sandbox-${pid}-3`, 'sandbox-77-2', 'other']) {
      mkdirSync(join(divided, name));
    }

    expect(leftoverCgroups(divided, pid).toSorted()).toEqual([
      join(divided, 'sandbox-12-1'),
      join(divided, `sandbox-${pid}-3`),
    ]);
  });
});

describe('the tier', () => {
  const delegated = { kind: 'delegated', directory: '/sys/fs/cgroup/slipway', hasCpu: true } as const;
  const none = { kind: 'none', problem: 'this machine has no cgroup v2' } as const;

  it('says how far limits reach', () => {
    expect(tierOf({ isRoot: false, delegation: none, cpus: null })).toBe('unprivileged');
    expect(tierOf({ isRoot: true, delegation: delegated, cpus: null })).toBe('root, cgroup v2');
    expect(describeBubblewrap('0.12.0', { isRoot: false, delegation: delegated, cpus: null })).toBe(
      'bubblewrap 0.12.0 (unprivileged, cgroup v2)',
    );
  });

  it('says what is missing, and how to get it', () => {
    expect(shortcomings({ isRoot, delegation: delegated, cpus: 2 })).toEqual([]);
    expect(shortcomings({ isRoot, delegation: none, cpus: null })).toEqual([
      expect.stringMatching(/watched.*no cgroup v2\. .*Delegate=yes.*DelegateSubgroup=supervisor/),
    ]);
    expect(shortcomings({ isRoot, delegation: none, cpus: 2 })).toEqual([
      expect.stringContaining('SANDBOX_CPUS has no effect'),
    ]);
    expect(shortcomings({ isRoot, delegation: { ...delegated, hasCpu: false }, cpus: 2 })).toEqual([
      expect.stringContaining('SANDBOX_CPUS has no effect'),
    ]);
  });
});
