/** Starts bwrap in the way this machine allows: as which user, below which limits, in which cgroup. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { notMeasured } from '../accounting.ts';
import { type Cgroup, createCgroup } from '../cgroup/cgroup.ts';
import type { Delegation } from '../cgroup/delegation.ts';
import { inheritedDescriptors, stillInherited } from '../descriptors.ts';
import { leftoverMark } from '../leftovers.ts';
import type { Join } from '../network/network.ts';
import type { Limits, Mount, RunIdentity, SandboxResult } from '../sandbox.ts';
import { type BubblewrapStart, descriptors, runBubblewrap } from './bubblewrap-process.ts';
import { launchCommand, parseHardLimits, stagedMounts } from './launch.ts';
import { userOfRun, userRange } from './run-identity.ts';
import { isSupportedArchitecture, seccompFilter } from './seccomp.ts';

export interface LauncherOptions {
  readonly bwrap: string;
  readonly directory: string;
  readonly delegation: Delegation;
  readonly cpus: number | null;
}

/** Commands and holders of a network alike. */
export interface Launch
  extends Pick<BubblewrapStart, 'command' | 'temporaries' | 'onStarted' | 'forcedStopMs'> {
  readonly identity: RunIdentity;
  readonly mounts: readonly Mount[];
  /** The network to enter first. */
  readonly join: Join | null;
  /** Options of bwrap, once it is known where it finds the mounts. */
  readonly inside: (mounts: readonly Mount[]) => readonly string[];
}

export interface Launcher {
  readonly isRoot: boolean;
  /** Null: the server's own. */
  userOf(identity: RunIdentity): number | null;
  launch(launch: Launch): Promise<SandboxResult>;
}

/** Asked to stop before it began. */
export const notStarted = { kind: 'stopped', exitCode: null, durationMs: 0, usage: notMeasured } as const;

export function createLauncher({ bwrap, directory, delegation, cpus }: LauncherOptions): Launcher {
  const filter = isSupportedArchitecture(process.arch) ? seccompFilter(process.arch) : null;
  const hardLimits = parseHardLimits(readFileSync('/proc/self/limits', 'utf8'));
  const isRoot = process.getuid?.() === 0;
  const range = isRoot ? userRange(readFileSync('/proc/self/uid_map', 'utf8')) : null;
  const userOf = ({ key }: RunIdentity) => (range === null ? null : userOfRun(key, range));

  /** As far as the server itself may go. */
  const allowedProcesses = ({ processes }: Limits) =>
    Math.min(processes, hardLimits['nproc'] ?? Number.POSITIVE_INFINITY);

  const startIn = (
    cgroup: Cgroup | null,
    { identity, mounts, join, inside, command, ...start }: Launch,
    bpf: Uint8Array,
  ) => {
    const user = userOf(identity);
    const { limits, argv } = command;
    return runBubblewrap({
      ...start,
      command,
      launch: launchCommand({
        ...{ bwrap, limits, hardLimits, join, user, mounts, argv },
        cgroup: cgroup?.directory ?? null,
        outerStatus: descriptors.outerStatus,
        descriptorOptions: descriptorOptions(user === null),
      }),
      arguments: inside(stagedMounts(mounts, user)),
      filter: bpf,
      isStaged: user !== null,
      gatedProcesses: user === null ? limits.processes : null,
      ...(cgroup && { accounting: cgroup }),
      mark: leftoverMark(directory),
    });
  };

  return {
    isRoot,
    userOf,
    async launch(launch) {
      const problem = isRoot && range === null ? noUsers : await leakingDescriptors();
      if (filter === null || problem !== null) return unavailable(problem ?? unsupported);
      if (launch.command.signal.aborted) return notStarted;
      const limits = { ...launch.command.limits, processes: allowedProcesses(launch.command.limits) };
      const limited = { ...launch, command: { ...launch.command, limits } };
      if (delegation.kind === 'none') return startIn(null, limited, filter);
      let cgroup: Cgroup;
      try {
        cgroup = createCgroup(delegation, { ...limits, cpus });
      } catch (error) {
        return unavailable(`No cgroup could be made for the command: ${String(error)}`);
      }
      await using held = cgroup;
      return await startIn(held, limited, filter);
    },
  };
}

function unavailable(message: string): SandboxResult {
  return { kind: 'unavailable', message, durationMs: 0 };
}

const unsupported = `There is no system-call filter for ${process.arch}; the sandbox runs on x64 and arm64.`;
const noUsers =
  'The server is root and has no users to give to runs (/proc/self/uid_map). Start it as an unprivileged user.';

/** C libraries leave descriptors unmarked while they read a file, which takes milliseconds. */
const transientDescriptorMs = 100;

/** bwrap would pass them on, and a directory among them is the whole host. */
async function leakingDescriptors(): Promise<string | null> {
  const inherited = inheritedDescriptors();
  if (inherited.length === 0) return null;
  await sleep(transientDescriptorMs);
  const stay = stillInherited(inherited).map(({ number, target }) => `${number} (${target})`);
  return stay.length === 0
    ? null
    : `Descriptors of the server would leak into the sandbox: ${stay.join(', ')}. Call closeInheritedDescriptors at its start.`;
}

function descriptorOptions(isGated: boolean): string[] {
  return [
    ...['--args', String(descriptors.arguments)],
    ...['--seccomp', String(descriptors.filter)],
    ...['--json-status-fd', String(descriptors.status)],
    ...(isGated ? ['--block-fd', String(descriptors.release)] : []),
  ];
}
