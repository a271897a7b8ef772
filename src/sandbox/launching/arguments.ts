/**
 * The command line of bwrap, as data. Pure: the order matters, and each line's reason is tested by an attack.
 * Values of the environment are in here, so it travels on a descriptor and never on a command line.
 */

import { homeBytes, sharedMemoryBytes } from '../limits.ts';
import type { Mount } from '../sandbox.ts';
import { certificatesInside, type HostTree } from './host-tree.ts';

export interface SandboxTree {
  readonly host: HostTree;
  /** Those of the host tree and the command's, ordered, with sources as bwrap can reach them. */
  readonly mounts: readonly Mount[];
  readonly temporaryBytes: number;
  readonly workingDirectory: string;
  /** Variables of the program that bwrap starts. */
  readonly environment: Readonly<Record<string, string>>;
  /** `none`: a network namespace with nothing in it. `joined`: the one that the launch has entered (network.ts). */
  readonly network: 'none' | 'joined';
}

export const userInside = 1000;

export function sandboxArguments(tree: SandboxTree): string[] {
  return [
    ...namespaces,
    ...(tree.network === 'joined' ? [] : ['--unshare-net']),
    ...confinement,
    ...environmentArguments(tree.environment),
    ...hostArguments(tree.host),
    ...kernelFiles,
    ...privateDirectories(tree),
    ...tree.mounts.flatMap(({ source, target, writable }) => [
      writable ? '--bind' : '--ro-bind',
      source,
      target,
    ]),
    ...['--chdir', tree.workingDirectory],
    // The root is a tmpfs of its own that everything above was mounted into; without this it is writable.
    ...['--remount-ro', '/'],
  ];
}

/**
 * Of the sandbox that holds a network. Others join it, which takes a user namespace without a second one in it: so
 * nothing here may make bwrap nest them (`--dev`, `--uid`) or forbid it (`--disable-userns`). Only forwarder.cjs runs there.
 */
export function holderArguments(host: HostTree, mounts: readonly Mount[]): string[] {
  return [
    ...namespaces,
    ...['--unshare-net', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
    ...hostArguments(host),
    ...['--proc', '/proc', '--dev-bind', '/dev/null', '/dev/null'],
    ...mounts.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...['--chdir', '/', '--remount-ro', '/'],
  ];
}

// Each by name, so that a missing one fails; `--unshare-all` only tries to unshare users.
const namespaces = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
];

const confinement = [
  ...['--uid', String(userInside), '--gid', String(userInside), '--hostname', 'sandbox'],
  // A nested user namespace would give back capabilities, and with them a large part of the kernel.
  '--disable-userns',
  '--assert-userns-disabled',
  // A server that is killed takes its sandboxes along.
  '--die-with-parent',
  // No controlling terminal, so nothing can be typed into the one the server was started from.
  '--new-session',
  ...['--cap-drop', 'ALL'],
];

function environmentArguments(environment: Readonly<Record<string, string>>): string[] {
  const settings = Object.entries(environment).flatMap(([name, value]) => {
    if (name === '' || /[=\0]/.test(name) || value.includes('\0')) {
      throw new Error(`${JSON.stringify(name)} cannot be an environment variable`);
    }
    return ['--setenv', name, value];
  });
  return ['--clearenv', ...settings];
}

function hostArguments(host: HostTree): string[] {
  return [
    ...host.directories.flatMap((path) => ['--ro-bind', path, path]),
    ...host.links.flatMap(({ path, to }) => ['--symlink', to, path]),
    ...host.optional.flatMap((path) => ['--ro-bind-try', path, path]),
    // Fedora's place for the bundle, compiled into some programs.
    ...(host.hasCertificates ? ['--symlink', certificatesInside, '/etc/pki/tls/certs/ca-bundle.crt'] : []),
  ];
}

const kernelFiles = [
  // Nothing to write there: a process could make itself less likely to be chosen when memory runs out (oom_score_adj).
  ...['--proc', '/proc', '--remount-ro', '/proc'],
  // Every tmpfs has a size: an unbounded one is memory of the host.
  ...['--dev', '/dev', '--size', String(sharedMemoryBytes), '--perms', '1777', '--tmpfs', '/dev/shm'],
  ...['--remount-ro', '/dev'],
];

/** Paths inside of every tmpfs that the command may write. */
export function privateTemporaries(mounts: readonly Mount[]): string[] {
  const isMounted = (path: string) => mounts.some(({ target }) => target === path);
  const isHome = !isMounted('/home') && !isMounted('/home/runner');
  return ['/dev/shm', ...(isMounted('/tmp') ? [] : ['/tmp']), ...(isHome ? ['/home/runner'] : [])];
}

function privateDirectories({ mounts, temporaryBytes }: SandboxTree): string[] {
  const own = privateTemporaries(mounts);
  return [
    ...(own.includes('/tmp') ? ['--size', String(temporaryBytes), '--perms', '1777', '--tmpfs', '/tmp'] : []),
    ...['--symlink', '/tmp', '/var/tmp'],
    ...(own.includes('/home/runner') ? ['--size', String(homeBytes), '--tmpfs', '/home/runner'] : []),
  ];
}
