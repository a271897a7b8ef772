/** What stands in the way of bwrap: as systems tell it, and as bwrap itself says it. */
import { describe, expect, it, test } from 'vitest';
import { adviceFor, refusalsIn } from '../../../src/sandbox/diagnosis/bwrap-errors.ts';
import { type Machine, readMachine, type System } from '../../../src/sandbox/diagnosis/machine.ts';
import { fixFor } from '../../../src/sandbox/diagnosis/refusals.ts';

const executable = 0o100755;
const programs = Object.fromEntries(
  ['bwrap', 'choom', 'nsenter', 'prlimit', 'setpriv'].map((name) => [`/usr/bin/${name}`, executable]),
);
const wellFiles: Readonly<Record<string, string>> = {
  '/proc/self/status': 'Name:\tnode\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n',
  '/proc/self/mountinfo':
    '22 27 0:21 / /proc rw - proc proc rw\n35 22 0:30 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n',
  '/proc/self/uid_map': '         0          0 4294967295\n',
  '/proc/sys/user/max_user_namespaces': '96365\n',
  '/proc/sys/user/max_net_namespaces': '96365\n',
};

function system(
  change: {
    files?: Readonly<Record<string, string>>;
    modes?: Readonly<Record<string, number | null>>;
    isRoot?: boolean;
  } = {},
): System {
  const files = { ...wellFiles, ...change.files };
  const modes: Readonly<Record<string, number | null>> = { ...programs, ...change.modes };
  return {
    isRoot: change.isRoot ?? false,
    path: '/usr/local/bin:/usr/bin',
    read: (path) => files[path] ?? null,
    mode: (path) => modes[path] ?? null,
  };
}

const machine = (...change: Parameters<typeof system>): Machine => readMachine(system(...change));

describe('a machine', () => {
  it('that is well is blamed for nothing', () => {
    expect(fixFor('', machine())).toBeNull();
    expect(fixFor('', machine({ isRoot: true }))).toBeNull();
  });

  const mount = (id: number, point: string) => `${id} 22 0:5 /null ${point} rw - tmpfs tmpfs rw\n`;
  const masked = `${wellFiles['/proc/self/mountinfo']}${mount(40, '/proc/kcore')}${mount(41, '/proc/keys')}${mount(42, '/proc/acpi')}${mount(43, '/proc/sys')}`;
  const pod = `${masked}50 1 8:1 /var/lib/kubelet/pods/0f/etc-hosts /etc/hosts rw - ext4 /dev/sda rw\n`;
  const filtered = wellFiles['/proc/self/status']?.replace('Seccomp:\t0', 'Seccomp:\t2') ?? '';

  test.each<[string, Parameters<typeof system>[0], readonly string[], readonly string[]]>([
    [
      'without bubblewrap',
      { modes: { '/usr/bin/bwrap': null } },
      ['Not installed: bwrap.', 'apt-get install bubblewrap'],
      ['util-linux'],
    ],
    [
      'with a bwrap that nobody may execute, and half of util-linux',
      { modes: { '/usr/bin/bwrap': 0o100644, '/usr/bin/choom': null, '/usr/bin/setpriv': null } },
      ['Not installed: bwrap, choom, setpriv.', 'apt-get install bubblewrap util-linux'],
      [],
    ],
    ['with a setuid bwrap', { modes: { '/usr/bin/bwrap': 0o104755 } }, ['chmod u-s /usr/bin/bwrap'], []],
    [
      'that gives unprivileged users no namespaces',
      { files: { '/proc/sys/kernel/unprivileged_userns_clone': '0\n' } },
      ['kernel.unprivileged_userns_clone=1', 'sysctl --system'],
      ['max_'],
    ],
    [
      'without user namespaces, and with too few for the network',
      { files: { '/proc/sys/user/max_user_namespaces': '0', '/proc/sys/user/max_net_namespaces': '3' } },
      [
        'user.max_user_namespaces is 0, user.max_net_namespaces is 3',
        'echo user.max_user_namespaces=10000 >> /etc/sysctl.d/',
        'echo user.max_net_namespaces=10000 >>',
      ],
      ['unprivileged_userns_clone'],
    ],
    [
      'of Ubuntu',
      { files: { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' } },
      ['apparmor_parser -r /etc/apparmor.d/', '/usr/bin/bwrap flags=(unconfined) {\n  userns,\n}'],
      ['Take it away'],
    ],
    [
      'of Ubuntu with a profile of its own for bwrap, installed elsewhere',
      {
        files: { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' },
        modes: {
          '/etc/apparmor.d/bwrap-userns-restrict': 0o100644,
          '/usr/bin/bwrap': null,
          '/usr/local/bin/bwrap': executable,
        },
      },
      [
        'apparmor_parser -R /etc/apparmor.d/bwrap-userns-restrict',
        'profile slipway-bwrap /usr/local/bin/bwrap ',
      ],
      [],
    ],
    [
      'that is a container of Docker with all that it does',
      {
        files: {
          '/proc/self/mountinfo': masked,
          '/proc/self/status': filtered,
          '/proc/self/attr/current': 'docker-default (enforce)\n',
        },
        modes: { '/.dockerenv': 0o100755, '/sys/module/apparmor': 0o40755 },
      },
      [
        '/proc/kcore, /proc/keys, /proc/acpi and 1 more',
        '--security-opt systempaths=unconfined',
        '--security-opt seccomp=unconfined',
        'docker-default (enforce)',
        '--security-opt apparmor=unconfined',
      ],
      ['unmask', 'procMount'],
    ],
    [
      'that is a container of Podman',
      { files: { '/proc/self/mountinfo': masked }, modes: { '/run/.containerenv': 0o100644 } },
      ['--security-opt unmask=ALL'],
      ['seccomp', 'apparmor'],
    ],
    [
      'that is a pod',
      { files: { '/proc/self/mountinfo': pod, '/proc/self/status': filtered } },
      ['procMount: Unmasked', 'hostUsers: false', 'seccompProfile.type: Unconfined'],
      ['--security-opt'],
    ],
    [
      'with a unit that protects too much',
      { files: { '/proc/self/mountinfo': masked, '/proc/self/status': filtered } },
      ['ProtectKernelTunables'],
      ['--security-opt', 'SystemCallFilter'],
    ],
    [
      'on which root may do little',
      {
        isRoot: true,
        files: { '/proc/self/status': 'CapEff:\t00000000a80425fb\nSeccomp:\t0\n' },
      },
      ['root without CAP_SYS_ADMIN.'],
      ['CAP_SETUID'],
    ],
    [
      'on which there is nobody but root',
      { isRoot: true, files: { '/proc/self/uid_map': '0 1000 1\n' } },
      ['unprivileged user'],
      [],
    ],
  ])('%s', (_, change, wanted, unwanted) => {
    const fix = fixFor('', machine(change)) ?? '';
    for (const text of wanted) expect(fix).toContain(text);
    for (const text of unwanted) expect(fix).not.toContain(text);
  });

  it('with other modules than AppArmor is not taken for confined', () => {
    const label = { '/proc/self/attr/current': 'system_u:system_r:unconfined_service_t:s0' };
    expect(machine({ files: label }).apparmorProfile).toBeNull();
    const modes = { '/sys/module/apparmor': 0o40755 };
    expect(
      machine({ files: { '/proc/self/attr/current': 'unconfined\n' }, modes }).apparmorProfile,
    ).toBeNull();
  });
});

/** As bwrap 0.8.0 and 0.12.0, util-linux and Node write them. */
const messages: readonly (readonly [string, string])[] = [
  ['spawn choom ENOENT', 'programs'],
  ['choom: failed to execute prlimit: No such file or directory', 'programs'],
  ['bwrap: execvp setpriv: No such file or directory', 'programs'],
  ['bwrap: The --size option is not permitted in setuid mode', 'setuid'],
  [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.',
    'namespaces',
  ],
  [
    'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
    'namespaces',
  ],
  ['bwrap: unshare user ns: No space left on device', 'namespaces'],
  ['bwrap: setting up uid map: Permission denied', 'apparmor'],
  ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'apparmor'],
  ["bwrap: Can't set hostname to sandbox: Operation not permitted", 'filter'],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'proc'],
  ['bwrap: Failed to make / slave: Permission denied', 'apparmor'],
  ["bwrap: Can't mount tmpfs on /newroot: Permission denied", 'mounts'],
  ['setpriv: setresuid failed: Operation not permitted', 'capabilities'],
  ['bwrap: Unknown option --disable-userns', 'version'],
];

test.each(messages)('%s', (message, refusal) => {
  const isRoot = refusal === 'capabilities';
  expect(refusalsIn(message, isRoot)[0]).toBe(refusal);
  const advice = adviceFor(message, isRoot);
  expect(advice).not.toBeNull();
  // The message of a result has the advice below it, and still says the same.
  expect(adviceFor(`${message}\n${advice}`, isRoot)).toBe(advice);
  // A machine that knows nothing of it adds nothing to what everybody is told.
  expect(fixFor(message, machine({ isRoot }))).toBe(advice);
});

test('capabilities are asked for root servers only', () => {
  const refused = "bwrap: Can't make symlink: Operation not permitted";

  expect(adviceFor(refused, true)).toContain('CAP_SYS_ADMIN');
  expect(adviceFor(refused, false)).toBeNull();
  expect(fixFor(refused, machine())).toBeNull();
});

test('a host that bwrap may not name is a matter of the filter', () => {
  const refused = "bwrap: Can't set hostname to sandbox: Operation not permitted";
  const status = wellFiles['/proc/self/status']?.replace('Seccomp:\t0', 'Seccomp:\t2') ?? '';
  const files = { '/proc/self/status': status };
  const inPodman = machine({ files, modes: { '/run/.containerenv': 0o100644 } });

  expect(fixFor(refused, inPodman)).toBe(
    "The container's system-call filter forbids namespaces and mounts: --security-opt seccomp=unconfined",
  );
  // A unit has a filter, whether it is what refuses or not.
  expect(fixFor(refused, machine({ files }))).toContain('ProtectHostname');
});

test.each([
  "bwrap: Can't chdir to /no/such/place: No such file or directory",
  'bwrap: execvp no-such-program: No such file or directory',
])('%s: of the command itself, there is no advice', (message) => {
  expect(adviceFor(message, false)).toBeNull();
});

test('what the machine knows takes the place of what everybody is told', () => {
  const restricted = machine({ files: { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1' } });
  const fix = fixFor('bwrap: setting up uid map: Permission denied', restricted) ?? '';

  expect(fix).toMatch(/^AppArmor keeps unprivileged users/);
  expect(fix).not.toContain(adviceFor('bwrap: setting up uid map: Permission denied', false));
  // Of another trouble it is told beside it.
  const beside = fixFor('bwrap: Unknown option --disable-userns', restricted) ?? '';
  expect(beside).toMatch(/^This bwrap is too old/);
  expect(beside).toContain('AppArmor keeps');
});
