/** What of this machine decides whether bwrap can make a sandbox, as the system itself tells it. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { userRange } from '../launching/run-identity.ts';

export interface Machine {
  readonly isRoot: boolean;
  /** By sysctl, e.g. `user.max_user_namespaces`: how many there may be. What the kernel does not have is missing. */
  readonly namespaceLimits: Readonly<Record<string, number>>;
  /** False: `kernel.unprivileged_userns_clone` of Debian and some others is 0. */
  readonly areUserNamespacesOpen: boolean;
  /** `kernel.apparmor_restrict_unprivileged_userns` of Ubuntu is 1. */
  readonly areUserNamespacesRestricted: boolean;
  /** What AppArmor confines the server by; null: by nothing. */
  readonly apparmorProfile: string | null;
  /** Which profile for bwrap there is already, a path; it keeps capabilities from what bwrap starts. */
  readonly restrictiveProfile: string | null;
  /** The server is under a system-call filter already, as in most containers. */
  readonly isFiltered: boolean;
  readonly container: Container | null;
  /** Paths of /proc that something else is mounted over: then the kernel mounts no other /proc. */
  readonly maskedProc: readonly string[];
  /** Null: not installed. */
  readonly bwrap: { readonly path: string; readonly isSetuid: boolean } | null;
  /** Programs of util-linux that every command passes through. */
  readonly missingPrograms: readonly string[];
  /** Of a root server; others need none. */
  readonly missingCapabilities: readonly string[];
  /** False: a root server whose user namespace has nobody but root. */
  readonly hasUsersForRuns: boolean;
}

export type Container = 'docker' | 'podman' | 'kubernetes';

/** A system as questions, so that tests can be other systems. */
export interface System {
  readonly isRoot: boolean;
  /** Where programs are looked for, separated by colons. */
  readonly path: string;
  /** Null when the file is not there, or not ours to read. */
  read(path: string): string | null;
  /** Null when there is no such file. */
  mode(path: string): number | null;
}

export function systemOf(path: string): System {
  return {
    isRoot: process.getuid?.() === 0,
    path,
    read(file) {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return null;
      }
    },
    mode(file) {
      try {
        return statSync(file).mode;
      } catch {
        return null;
      }
    },
  };
}

const namespaceKinds = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup'];
/** Capabilities by their bits. */
const needed = { CAP_SETGID: 6, CAP_SETUID: 7, CAP_SYS_ADMIN: 21 };
/** setpriv is for root servers only, but every util-linux that has the others has it. */
const programs = ['choom', 'nsenter', 'prlimit', 'setpriv'];

export function readMachine(system: System): Machine {
  const { isRoot, read, mode } = system;
  const status = read('/proc/self/status') ?? '';
  const mounts = read('/proc/self/mountinfo') ?? '';
  const bwrap = find(system, 'bwrap');
  const number = (path: string) => {
    const text = read(path)?.trim() ?? '';
    return /^\d+$/.test(text) ? Number(text) : null;
  };
  const limits = namespaceKinds.flatMap((kind) => {
    const limit = number(`/proc/sys/user/max_${kind}_namespaces`);
    return limit === null ? [] : [[`user.max_${kind}_namespaces`, limit] as const];
  });
  const restrictive = '/etc/apparmor.d/bwrap-userns-restrict';
  return {
    isRoot,
    namespaceLimits: Object.fromEntries(limits),
    areUserNamespacesOpen: number('/proc/sys/kernel/unprivileged_userns_clone') !== 0,
    areUserNamespacesRestricted: number('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === 1,
    apparmorProfile: confinementOf(system),
    restrictiveProfile: mode(restrictive) === null ? null : restrictive,
    isFiltered: /^Seccomp:\s*2$/m.test(status),
    container: containerOf(system, mounts),
    maskedProc: maskedProcOf(mounts),
    bwrap: bwrap === null ? null : { path: bwrap, isSetuid: ((mode(bwrap) ?? 0) & 0o4000) !== 0 },
    missingPrograms: programs.filter((name) => find(system, name) === null),
    missingCapabilities: isRoot ? missingCapabilities(status) : [],
    hasUsersForRuns: !isRoot || userRange(read('/proc/self/uid_map') ?? '') !== null,
  };
}

function find({ path, mode }: System, name: string): string | null {
  const isProgram = (file: string) => ((mode(file) ?? 0) & 0o111) !== 0;
  const places = path.split(':').map((directory) => join(directory, name));
  return places.find(isProgram) ?? null;
}

/** Directories that are empty for ever: what is mounted there hides nothing, and the kernel minds none of it. */
const emptyInProc = new Set(['/proc/sys/fs/binfmt_misc', '/proc/fs/nfsd', '/proc/openprom']);

/** From the text of mountinfo: id, parent, device, root, mount point, ... */
function maskedProcOf(mountinfo: string): string[] {
  const points = mountinfo.split('\n').map((line) => line.split(' ')[4] ?? '');
  return [...new Set(points)].filter((point) => point.startsWith('/proc/') && !emptyInProc.has(point));
}

/** `docker-default (enforce)`; also where the kernel has other modules, which write the same file. */
function confinementOf({ read, mode }: System): string | null {
  if (mode('/sys/module/apparmor') === null) return null;
  const text = (read('/proc/self/attr/apparmor/current') ?? read('/proc/self/attr/current') ?? '').trim();
  return text === '' || /^unconfined\b/.test(text) ? null : text;
}

function containerOf({ mode }: System, mountinfo: string): Container | null {
  if (/\/kubelet\/pods\//.test(mountinfo) || mode('/run/secrets/kubernetes.io') !== null) return 'kubernetes';
  if (mode('/run/.containerenv') !== null) return 'podman';
  return mode('/.dockerenv') === null ? null : 'docker';
}

function missingCapabilities(status: string): string[] {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return Object.entries(needed)
    .filter(([, bit]) => ((effective >> BigInt(bit)) & 1n) === 0n)
    .map(([name]) => name);
}
