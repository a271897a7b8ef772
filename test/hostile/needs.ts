/** What a machine has to have for an attack to succeed on it without a sandbox. Asked by trying. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { hasSymlinkFlaw } from '../../src/sandbox/diagnosis/bwrap-errors.ts';
import { type Need, python } from './attack.ts';
import { openPerformanceCounter, throughOldEntrance } from './kernel-calls.ts';
import { rootDisk } from './root-disk.ts';

const isRoot = process.getuid?.() === 0;

/** True when it is there; otherwise the reason to skip. */
const needs: Readonly<Record<Need, { readonly has: () => boolean; readonly without: string }>> = {
  root: { has: () => isRoot, without: 'only root can do it, with a sandbox or without' },
  'no-root': { has: () => !isRoot, without: 'root can do it anyway' },
  namespaces: {
    has: () => process.env['HOSTILE_OUTER_NETWORK'] !== undefined,
    without: 'no network namespace could be made for the test (unshare --net)',
  },
  'user-namespaces': { has: () => runs('unshare', '-Ur', 'true'), without: 'no user namespaces here' },
  'old-entrance': {
    has: () => process.arch === 'x64' && tries(throughOldEntrance),
    without: 'no 32-bit calls here, or no io_uring',
  },
  'kernel-log': {
    has: () => isRoot && runs('dmesg') && existsSync('/dev/kmsg'),
    without: 'no log of the kernel',
  },
  'flawed-bwrap': {
    has: () => hasSymlinkFlaw(textOf('bwrap', '--version').replace('bubblewrap', '').trim()),
    without: 'this bwrap is 0.12 or newer, which does not have the flaw',
  },
  gcc: { has: () => runs('gcc', '--version'), without: 'no gcc' },
  ipv6: {
    has: () => (networkInterfaces()['lo'] ?? []).some(({ family }) => family === 'IPv6'),
    without: 'no IPv6 on loopback',
  },
  multipath: { has: () => tries('socket.socket(2, 1, 262)'), without: 'no MPTCP in this kernel' },
  vsock: { has: () => tries('socket.socket(40, 1, 0)'), without: 'no AF_VSOCK in this kernel' },
  io_uring: {
    has: () => tries('call("io_uring_setup", 8, ctypes.create_string_buffer(256))'),
    without: 'no io_uring for this user',
  },
  userfaultfd: { has: () => tries('call("userfaultfd", 1)'), without: 'no userfaultfd for this user' },
  perf: { has: () => tries(openPerformanceCounter), without: 'no perf_event_open for this user' },
  fanotify: { has: () => tries('call("fanotify_init", 0x200, 0)'), without: 'no fanotify for this user' },
  disk: { has: () => rootDisk() !== null, without: 'no disk is to be seen' },
  'cgroup-v1': { has: () => existsSync('/sys/fs/cgroup/pids/tasks'), without: 'no cgroup v1' },
  'core-files': {
    has: () =>
      /^core/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')) &&
      /^Max core file size\s+\S+\s+unlimited/m.test(readFileSync('/proc/self/limits', 'utf8')),
    without: 'core dumps go nowhere here',
  },
  typing: {
    has: () => !existsSync(legacyTyping) || isRoot || readFileSync(legacyTyping, 'utf8').trim() === '1',
    without: 'the kernel refuses TIOCSTI (dev.tty.legacy_tiocsti)',
  },
  x32: {
    has: () => process.arch === 'x64' && tries('call(0x40000000 | 39)'),
    without: 'no x32 in this kernel',
  },
};

const legacyTyping = '/proc/sys/dev/tty/legacy_tiocsti';

export function lacks(wanted: readonly Need[] = []): string | null {
  const missing = wanted.filter((need) => !needs[need].has());
  return missing.length === 0 ? null : missing.map((need) => needs[need].without).join('; ');
}

function tries(text: string): boolean {
  const [program, ...options] = python(text);
  return runs(program, ...options);
}

function textOf(program: string, ...options: readonly string[]): string {
  return execFileSync(program, options, { encoding: 'utf8', timeout: 10_000 });
}

function runs(program: string, ...options: readonly string[]): boolean {
  try {
    execFileSync(program, options, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' }, timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
