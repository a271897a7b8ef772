/**
 * Which mounts a command may have. Pure, and lexical on purpose: by the time a command runs, names inside
 * directories that a run can write mean whatever the run wants them to mean, so nothing is ever mounted at or
 * from one (CVE-2026-87766 in bwrap before 0.12, and by design in every version for sources).
 */
import { posix } from 'node:path';
import type { Mount } from '../sandbox.ts';

/** What the sandbox itself puts there. `/tmp` and `/home/runner` may be replaced, and mounted below. */
const reservedTargets = [
  '/bin',
  '/dev',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt/slipway',
  '/proc',
  '/sbin',
  '/sys',
  '/usr',
];

/** Checked and sorted, parents before what lies in them. Throws for mounts that are wrong: a bug of the caller. */
export function orderMounts(mounts: readonly Mount[]): Mount[] {
  for (const mount of mounts) {
    checkPath(mount.source, 'source');
    checkPath(mount.target, 'target');
    const reserved = reservedTargets.find((path) => isAtOrBelow(mount.target, path));
    if (mount.target === '/' || reserved !== undefined) {
      throw new Error(`mount target ${mount.target} is the sandbox's own`);
    }
    for (const other of mounts) checkPair(mount, other);
  }
  return mounts.toSorted((a, b) => segments(a.target) - segments(b.target));
}

/** True for the path itself and everything in it. */
export function isAtOrBelow(path: string, parent: string): boolean {
  return path === parent || path.startsWith(parent.endsWith('/') ? parent : `${parent}/`);
}

function checkPath(path: string, what: string): void {
  if (!path.startsWith('/') || posix.normalize(path) !== path || path.includes('\0')) {
    throw new Error(`mount ${what} ${JSON.stringify(path)} is not a plain absolute path`);
  }
  if (path !== '/' && path.endsWith('/')) throw new Error(`mount ${what} ${path} ends in a slash`);
}

function checkPair(mount: Mount, other: Mount): void {
  if (mount === other) return;
  if (mount.target === other.target) throw new Error(`mount target ${mount.target} is given twice`);
  if (!other.writable) return;
  if (isAtOrBelow(mount.target, other.target)) {
    throw new Error(`mount target ${mount.target} lies below the writable ${other.target}`);
  }
  // The same directory at two places is the one overlap that no run can steer.
  if (mount.source !== other.source && isAtOrBelow(mount.source, other.source)) {
    throw new Error(`mount source ${mount.source} lies in ${other.source}, which the command can write`);
  }
}

function segments(path: string): number {
  return path.split('/').length;
}
