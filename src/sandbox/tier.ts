/** How far the limits of this server reach, and what would take them further. Pure. */

import type { Delegation } from './cgroup/delegation.ts';
import { hasSymlinkFlaw } from './diagnosis/bwrap-errors.ts';

/** `root`: a user of its own for each run. `cgroup v2`: the kernel limits memory and processes of each command as a whole. */
export type Tier = `${'root' | 'unprivileged'}${'' | ', cgroup v2'}`;

export interface Abilities {
  readonly isRoot: boolean;
  readonly delegation: Delegation;
  /** What the operator wants to be held (SANDBOX_CPUS). */
  readonly cpus: number | null;
}

export function tierOf({ isRoot, delegation }: Abilities): Tier {
  return `${isRoot ? 'root' : 'unprivileged'}${delegation.kind === 'delegated' ? ', cgroup v2' : ''}`;
}

/** Null for `version`: not installed. */
export function describeBubblewrap(version: string | null, abilities: Abilities): string {
  if (version === null) return 'bubblewrap: not installed';
  const users = abilities.isRoot ? 'root, a user of its own for each run' : 'unprivileged';
  const groups = abilities.delegation.kind === 'delegated' ? ', cgroup v2' : '';
  const flaw = hasSymlinkFlaw(version) ? '; 0.12 or newer is recommended' : '';
  return `bubblewrap ${version} (${users}${groups}${flaw})`;
}

/** For the operator: what works with less than there could be, why, and what to do. */
export function shortcomings({ delegation, cpus }: Abilities): string[] {
  if (delegation.kind === 'none') {
    const cpu = cpus === null ? '' : ', and SANDBOX_CPUS has no effect';
    return [
      `The memory and the processes of a command are watched, not limited as a whole by the kernel${cpu}: ${delegation.problem}. ${advice}`,
    ];
  }
  return cpus === null || delegation.hasCpu
    ? []
    : ['SANDBOX_CPUS has no effect: the controller cpu was not delegated. systemd: Delegate=yes.'];
}

const advice =
  'It takes a cgroup v2 of the server alone: with systemd Delegate=yes in its unit (deploy/slipway.service), and DelegateSubgroup=supervisor from version 254 on. What a server at work has, its log says ("listening").';
