/**
 * Finds out whether the server may divide its own cgroup v2 (systemd: `Delegate=yes`), and prepares it:
 *
 *     slipway.service/                 ours; no process is left in it, as the kernel wants of a cgroup that is divided
 *       supervisor/                    the server
 *       sandbox-<pid of server>-<n>/   one for each command (cgroup.ts)
 *
 * It is ours only when nobody else's process is in it, so a server that was started from a shell never takes the
 * cgroup of that shell.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cgroupMounts, directoryOf, ownCgroup, words } from './tree.ts';

export interface Delegated {
  readonly kind: 'delegated';
  readonly directory: string;
  /** Whether shares of processors can be given: the controller is not always handed on. */
  readonly hasCpu: boolean;
}

/** `problem`: why not, for the operator. */
export type Delegation = Delegated | { readonly kind: 'none'; readonly problem: string };

export interface DelegationOptions {
  /** Our own directory in /proc; only tests have another. */
  readonly proc?: string;
  readonly pid?: number;
}

/** Also systemd's word (`DelegateSubgroup=supervisor`), which then has put us there already. */
const ofServer = 'supervisor';

/**
 * Call once, before anything is spawned: children that are in the way make it impossible. Changes nothing where the answer
 * is no. Never throws.
 */
export function delegateCgroup(options: DelegationOptions = {}): Delegation {
  const { proc = '/proc/self', pid = process.pid } = options;
  try {
    const found = findOwn(proc);
    return 'problem' in found ? none(found.problem) : divide(found.directory, pid);
  } catch (error) {
    return none(`its cgroup cannot be read (${codeOf(error)})`);
  }
}

function findOwn(proc: string): { directory: string } | { problem: string } {
  const path = ownCgroup(readFileSync(join(proc, 'cgroup'), 'utf8'));
  const mounts = cgroupMounts(readFileSync(join(proc, 'mountinfo'), 'utf8'));
  if (path === null || mounts.length === 0) return { problem: 'this machine has no cgroup v2' };
  const seen = mounts.flatMap((mount) => {
    const directory = directoryOf(path, mount);
    return directory === null ? [] : [{ directory, writable: mount.writable }];
  });
  const [first] = seen;
  if (first === undefined) return { problem: `its cgroup (${path}) is not visible` };
  const writable = seen.find((each) => each.writable);
  return writable ?? { problem: `${first.directory} is mounted read-only` };
}

function divide(own: string, pid: number): Delegation {
  const isPrepared = basename(own) === ofServer;
  const directory = isPrepared ? dirname(own) : own;
  const available = words(readFileSync(join(directory, 'cgroup.controllers'), 'utf8'));
  const missing = ['memory', 'pids'].filter((name) => !available.includes(name));
  if (missing.length > 0) return none(`${directory} has no controller ${missing.join(', ')}`);
  // The one cgroup that cannot be limited, and holds whatever nobody has put elsewhere.
  if (statSync(join(directory, 'cgroup.type'), { throwIfNoEntry: false }) === undefined) {
    return none(`${directory} is the cgroup of the whole machine`);
  }
  const others = processesIn(directory).filter((each) => each !== pid);
  if (others.length > 0) {
    return none(`${directory} is shared with other processes (${others.slice(0, 3).join(', ')})`);
  }
  const home = join(directory, ofServer);
  const hadHome = statSync(home, { throwIfNoEntry: false }) !== undefined;
  try {
    if (!hadHome) mkdirSync(home);
    if (!isPrepared) writeFileSync(join(home, 'cgroup.procs'), String(pid));
    writeFileSync(join(directory, 'cgroup.subtree_control'), '+memory +pids');
    return { kind: 'delegated', directory, hasCpu: available.includes('cpu') && enabled(directory, '+cpu') };
  } catch (error) {
    undo(() => !isPrepared && writeFileSync(join(directory, 'cgroup.procs'), String(pid)));
    undo(() => !hadHome && rmdirSync(home));
    return none(`${directory} was not delegated to it (${codeOf(error)})`);
  }
}

/** The cgroups of commands that nobody answers for any more: those of other processes of the server's cgroup are theirs. */
export function leftoverCgroups(directory: string, pid = process.pid): string[] {
  const neighbours = processesIn(join(directory, ofServer)).filter((each) => each !== pid);
  return readdirSync(directory).flatMap((name) => {
    const owner = /^sandbox-(\d+)-\d+$/.exec(name)?.[1];
    return owner === undefined || neighbours.includes(Number(owner)) ? [] : [join(directory, name)];
  });
}

export function commandCgroup(directory: string, number: number, pid = process.pid): string {
  return join(directory, `sandbox-${pid}-${number}`);
}

function none(problem: string): Delegation {
  return { kind: 'none', problem };
}

function processesIn(directory: string): number[] {
  return words(readFileSync(join(directory, 'cgroup.procs'), 'utf8')).map(Number);
}

function enabled(directory: string, controller: string): boolean {
  try {
    writeFileSync(join(directory, 'cgroup.subtree_control'), controller);
    return true;
  } catch {
    return false;
  }
}

function undo(step: () => unknown): void {
  try {
    step();
  } catch {
    // It was not done either.
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
