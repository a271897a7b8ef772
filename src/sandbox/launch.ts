/**
 * The processes between the server and bwrap, each of which execs the next. Pure.
 *
 * Unprivileged server: prlimit, choom, bwrap.
 *
 * Root server: bwrap, setpriv, prlimit, choom, bwrap. The run's own user cannot reach most mount sources, because a
 * parent (DATA_DIR, /root) is closed to it, and bwrap resolves sources as the user it runs as. So a first bwrap,
 * still root, does nothing but put each source at /tmp/<n> of a mount namespace of its own. It is 3.5 ms; the
 * alternatives do not work: bwrap refuses ambient capabilities, and resolves /proc/self/fd/<n> to a path again.
 */
import type { Limits, Mount } from './sandbox.ts';

export interface LaunchPlan {
  readonly bwrap: string;
  readonly limits: Limits;
  readonly hardLimits: HardLimits;
  /** The run's user when the server is root. */
  readonly user: number | null;
  /** Every mount of the sandbox, host files included. */
  readonly mounts: readonly Mount[];
  /** Options of the inner bwrap that name descriptors. */
  readonly descriptorOptions: readonly string[];
  readonly argv: readonly string[];
}

/** What the server itself may not exceed, by prlimit's names; absent means unlimited. */
export type HardLimits = Readonly<Record<string, number>>;

export function launchCommand(plan: LaunchPlan): [string, ...string[]] {
  const inner = [
    ...rlimits(plan),
    // Sandboxes die before the server when memory runs out.
    ...['choom', '-n', '800', '--'],
    ...[plan.bwrap, ...plan.descriptorOptions, '--', ...plan.argv],
  ];
  if (plan.user === null) return ['prlimit', ...inner];
  const user = String(plan.user);
  return [
    plan.bwrap,
    '--die-with-parent',
    ...['--dev-bind', '/', '/', '--tmpfs', '/tmp'],
    ...plan.mounts.flatMap(({ source }, index) => ['--bind', source, stagedSource(index)]),
    '--',
    // Changing the user makes the kernel forget who the parent's death has to reach; bwrap set it just before.
    ...['setpriv', '--reuid', user, '--regid', user, '--clear-groups', '--pdeathsig', 'KILL', '--'],
    ...['prlimit', ...inner],
  ];
}

/** The mounts as the inner bwrap has to name them. */
export function stagedMounts(mounts: readonly Mount[], user: number | null): readonly Mount[] {
  if (user === null) return mounts;
  return mounts.map((mount, index) => ({ ...mount, source: stagedSource(index) }));
}

/** RLIMIT_NPROC of an unprivileged server is set later (bubblewrap.ts): here it would count the server's own threads. */
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
