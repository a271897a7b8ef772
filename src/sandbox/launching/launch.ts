/**
 * The processes between the server and bwrap, each of which execs the next. Pure.
 *
 * Unprivileged server: (sh,) nice, choom, (nsenter,) prlimit, bwrap.
 *
 * Root server: (sh,) nice, choom, (nsenter,) bwrap, setpriv, prlimit, bwrap. The run's own user cannot reach most mount sources, because a
 * parent (DATA_DIR, /root) is closed to it, and bwrap resolves sources as the user it runs as. So a first bwrap,
 * still root, does nothing but put each source at /tmp/<n> of a mount namespace of its own. It is 4 ms; the
 * alternatives do not work: bwrap refuses ambient capabilities, and resolves /proc/self/fd/<n> to a path again.
 *
 * The first bwrap has a process namespace, too. Without, the end of a killed server does not get past it: it has
 * dropped its capabilities by then, so the signal on a parent's death, sent in its name, may not reach another user.
 */
import type { Join } from '../network/network.ts';
import type { Limits, Mount } from '../sandbox.ts';
import { niceness } from './priority.ts';

export interface LaunchPlan {
  readonly bwrap: string;
  readonly limits: Limits;
  readonly hardLimits: HardLimits;
  /** The directory of the cgroup to enter first (cgroup.ts); null where there is none. */
  readonly cgroup: string | null;
  /** The network to enter first; null for commands that get none. */
  readonly join: Join | null;
  /** The run's user when the server is root. */
  readonly user: number | null;
  /** Every mount of the sandbox, host files included. */
  readonly mounts: readonly Mount[];
  /** Where the first bwrap of a root server reports its process. */
  readonly outerStatus: number;
  /** Options of the inner bwrap that name descriptors. */
  readonly descriptorOptions: readonly string[];
  readonly argv: readonly string[];
}

/** What the server itself may not exceed, by prlimit's names; absent means unlimited. */
export type HardLimits = Readonly<Record<string, number>>;

export function launchCommand(plan: LaunchPlan): [string, ...string[]] {
  // Sandboxes die before the server when memory runs out. Early, because choom finds itself in /proc by its pid, which
  // is another process there once a process namespace lies between.
  const humble = [
    ...(['nice', '-n', String(niceness), 'choom', '-n', '800', '--'] as const),
    ...joining(plan.join),
  ] as const;
  const first = plan.cgroup === null ? humble : ([...entering(plan.cgroup), ...humble] as const);
  const inner = ['prlimit', ...rlimits(plan), plan.bwrap, ...plan.descriptorOptions, '--', ...plan.argv];
  if (plan.user === null) return [...first, ...inner];
  const user = String(plan.user);
  return [
    ...first,
    plan.bwrap,
    ...['--unshare-pid', '--die-with-parent', '--json-status-fd', String(plan.outerStatus)],
    ...['--dev-bind', '/', '/', '--tmpfs', '/tmp'],
    ...plan.mounts.flatMap(({ source }, index) => ['--bind', source, stagedSource(index)]),
    '--',
    ...['setpriv', '--reuid', user, '--regid', user, '--clear-groups', '--'],
    ...inner,
  ];
}

/**
 * Before anything else, so that all of it is counted and held. A shell, because a process has to enter by itself and then become
 * another program, for which there is no program by argv; nothing is put into its text.
 */
function entering(cgroup: string): ['sh', ...string[]] {
  return ['sh', '-c', 'echo 0 > "$0/cgroup.procs" && exec "$@"', cgroup];
}

/** Capabilities gained by entering a user namespace are lost again with the next exec: our user is not its root. */
function joining(join: Join | null): string[] {
  if (join === null) return [];
  const user = join.user === null ? [] : [`--user=${join.user}`, '--preserve-credentials'];
  return ['nsenter', ...user, `--net=${join.network}`, '--'];
}

/** The mounts as the inner bwrap has to name them. */
export function stagedMounts(mounts: readonly Mount[], user: number | null): readonly Mount[] {
  if (user === null) return mounts;
  return mounts.map((mount, index) => ({ ...mount, source: stagedSource(index) }));
}

/** RLIMIT_NPROC of an unprivileged server is set later (bubblewrap-process.ts): here it would count the server's own threads. */
function rlimits({ limits, hardLimits, user }: LaunchPlan): string[] {
  const wanted = {
    ...(user === null ? {} : { nproc: limits.processes }),
    data: limits.dataBytes,
    fsize: limits.fileBytes,
    core: 0,
  };
  return Object.entries(wanted).map(([name, value]) => {
    const limit = Math.min(value, hardLimits[name] ?? Number.POSITIVE_INFINITY);
    return `--${name}=${limit}:${limit}`;
  });
}

const limitNames: Readonly<Record<string, string>> = {
  'Max processes': 'nproc',
  'Max data size': 'data',
  'Max file size': 'fsize',
};

/** From the text of /proc/self/limits: name, soft limit, hard limit, unit. */
export function parseHardLimits(text: string): HardLimits {
  const limits: Record<string, number> = {};
  for (const [label, name] of Object.entries(limitNames)) {
    const hard = new RegExp(`^${label}\\s+\\S+\\s+(\\d+)\\s`, 'm').exec(text)?.[1];
    if (hard !== undefined) limits[name] = Number(hard);
  }
  return limits;
}

function stagedSource(index: number): string {
  return `/tmp/${index}`;
}
