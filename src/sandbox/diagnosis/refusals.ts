/** What to do on this machine, where bwrap does not start a command. Pure: what bwrap said and the machine are given. */
import { adviceOf, type Refusal, refusalsIn } from './bwrap-errors.ts';
import type { Container, Machine } from './machine.ts';

interface Cause {
  /** The machine itself says so, whatever bwrap says. */
  isSo(machine: Machine): boolean;
  fix(machine: Machine): string;
}

/** A command needs two user namespaces, a run a handful of commands and its network, and several runs are executed at once. */
const enoughNamespaces = 64;

const causes: Readonly<Record<Refusal, Cause>> = {
  programs: {
    isSo: ({ bwrap, missingPrograms }) => bwrap === null || missingPrograms.length > 0,
    fix({ bwrap, missingPrograms }) {
      const missing = [...(bwrap === null ? ['bwrap'] : []), ...missingPrograms];
      const packages = [
        ...(bwrap === null ? ['bubblewrap'] : []),
        ...(missingPrograms.length === 0 ? [] : ['util-linux']),
      ];
      return `Not installed: ${missing.join(', ')}. Debian, Ubuntu: apt-get install ${packages.join(' ')}`;
    },
  },
  users: {
    isSo: ({ hasUsersForRuns }) => !hasUsersForRuns,
    fix: () => adviceOf('users'),
  },
  setuid: {
    isSo: ({ bwrap }) => bwrap?.isSetuid === true,
    fix: ({ bwrap }) =>
      `${bwrap?.path ?? 'bwrap'} is setuid root, and refuses what Slipway asks for then: chmod u-s ${bwrap?.path ?? '<path of bwrap>'}`,
  },
  namespaces: {
    isSo: (machine) => !machine.areUserNamespacesOpen || tightLimits(machine).length > 0,
    fix(machine) {
      const wanted = [
        ...(machine.areUserNamespacesOpen ? [] : ['kernel.unprivileged_userns_clone=1']),
        ...tightLimits(machine).map(([name]) => `${name}=10000`),
      ];
      const is = tightLimits(machine).map(([name, limit]) => `${name} is ${limit}`);
      const why = [
        ...(machine.areUserNamespacesOpen ? [] : ['kernel.unprivileged_userns_clone is 0']),
        ...is,
      ];
      return [
        `Namespaces are off: ${why.join(', ')}. As root of the machine (a container has the limits of its host):`,
        ...wanted.map((setting) => `echo ${setting} >> /etc/sysctl.d/60-slipway.conf`),
        'sysctl --system',
      ].join('\n');
    },
  },
  apparmor: {
    isSo: ({ areUserNamespacesRestricted }) => areUserNamespacesRestricted,
    fix: apparmorFix,
  },
  filter: {
    isSo: ({ isFiltered, container }) => isFiltered && container !== null,
    fix: ({ container }) =>
      `The container's system-call filter forbids namespaces and mounts: ${optionsFor(container).filter}`,
  },
  proc: {
    isSo: ({ maskedProc }) => maskedProc.length > 0,
    fix({ maskedProc, container }) {
      const shown = maskedProc.slice(0, 3).join(', ');
      const rest = maskedProc.length > 3 ? ` and ${maskedProc.length - 3} more` : '';
      return `Something is mounted over ${shown}${rest}, so the kernel mounts no /proc for the sandbox: ${optionsFor(container).proc}`;
    },
  },
  mounts: {
    isSo: ({ apparmorProfile }) => apparmorProfile !== null,
    fix: ({ apparmorProfile, container }) =>
      `AppArmor confines the server by ${apparmorProfile ?? 'a profile'}, which may forbid mounts: ${optionsFor(container).apparmor}`,
  },
  capabilities: {
    isSo: ({ missingCapabilities }) => missingCapabilities.length > 0,
    fix: ({ missingCapabilities }) =>
      `The server is root without ${missingCapabilities.join(', ')}. Start it as an unprivileged user, which needs none, or give it these.`,
  },
  version: {
    isSo: () => false,
    fix: () => adviceOf('version'),
  },
};

/**
 * `message`: what bwrap or the launch said; empty when only the machine is asked. Everything that the machine is sure of
 * at once, because who mends one thing would only meet the next. Null: nothing is known.
 */
export function fixFor(message: string, machine: Machine): string | null {
  const said = refusalsIn(message, machine.isRoot);
  const all = Object.keys(causes) as Refusal[];
  const others = all.filter((refusal) => !said.includes(refusal));
  const certain = [...said, ...others].filter((refusal) => causes[refusal].isSo(machine));
  const [likeliest] = said;
  // The machine may know of a trouble, but not of the one that bwrap has met.
  const isExplained = likeliest === undefined || certain.some((refusal) => said.includes(refusal));
  const fixes = [
    ...(isExplained ? [] : [adviceOf(likeliest)]),
    ...certain.map((refusal) => causes[refusal].fix(machine)),
  ];
  return fixes.length === 0 ? null : fixes.join('\n');
}

function tightLimits({ namespaceLimits }: Machine): [string, number][] {
  return Object.entries(namespaceLimits).filter(([, limit]) => limit < enoughNamespaces);
}

/** Of a server outside of containers, whatever confines it is the machine's own. */
function optionsFor(container: Container | null): { filter: string; proc: string; apparmor: string } {
  switch (container) {
    case 'kubernetes':
      return {
        filter: 'securityContext.seccompProfile.type: Unconfined, with hostUsers: false in the pod.',
        proc: 'securityContext.procMount: Unmasked, with hostUsers: false in the pod.',
        apparmor: 'securityContext.appArmorProfile.type: Unconfined.',
      };
    case 'podman':
      return {
        filter: '--security-opt seccomp=unconfined',
        proc: '--security-opt unmask=ALL',
        apparmor: '--security-opt apparmor=unconfined',
      };
    case 'docker':
      return {
        filter: '--security-opt seccomp=unconfined',
        proc: '--security-opt systempaths=unconfined',
        apparmor: '--security-opt apparmor=unconfined',
      };
    case null:
      return {
        filter: 'look at SystemCallFilter and ProtectHostname of its unit.',
        proc: 'look at ProtectKernelTunables, ProtectKernelLogs and ProcSubset of its unit.',
        apparmor:
          'take the server out of it, or let the profile have `mount`, `umount`, `pivot_root` and `userns`.',
      };
  }
}

const profilePath = '/etc/apparmor.d/slipway-bwrap';

/** `unconfined` with `userns`: as free as bwrap was before, and nothing else on the machine gets any more. */
function apparmorFix({ bwrap, restrictiveProfile }: Machine): string {
  const path = bwrap?.path ?? '/usr/bin/bwrap';
  const replaced =
    restrictiveProfile === null
      ? []
      : [
          `${restrictiveProfile} is for the same program, and keeps capabilities from what it starts. Take it away first:`,
          `ln -s ${restrictiveProfile} /etc/apparmor.d/disable/ && apparmor_parser -R ${restrictiveProfile}`,
        ];
  return [
    'AppArmor keeps unprivileged users from user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1).',
    ...replaced,
    `Write this to ${profilePath}, then: apparmor_parser -r ${profilePath}`,
    'abi <abi/4.0>,',
    'include <tunables/global>',
    `profile slipway-bwrap ${path} flags=(unconfined) {`,
    '  userns,',
    '}',
  ].join('\n');
}
