/**
 * The sandbox on Linux: bwrap, driven directly.
 *
 * This file puts one command together and runs it. What the command sees is in arguments.ts, the way to bwrap in
 * launch.ts, the process in bubblewrap-process.ts, the clocks in supervise.ts, the way out in network.ts and proxy.ts. Every value
 * travels on a descriptor, because command lines are world-readable. It refuses to know what a command is for.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { notMeasured } from './accounting.ts';
import { holderArguments, privateTemporaries, sandboxArguments } from './arguments.ts';
import {
  type BubblewrapStart,
  descriptors,
  launcherEnvironment,
  runBubblewrap,
} from './bubblewrap-process.ts';
import { hasSymlinkFlaw } from './bwrap-errors.ts';
import { inheritedDescriptors, stillInherited } from './descriptors.ts';
import { ownDirectory, removeDirectory } from './directories.ts';
import { forwarderInside, nodeInside, prepareHostTree, proxySocketInside } from './host-tree.ts';
import { launchCommand, parseHardLimits, stagedMounts } from './launch.ts';
import { leftoverMark } from './leftovers.ts';
import {
  defaultLimits,
  forcedStopMs,
  holderForcedStopMs,
  holderLimits,
  networkOpeningMs,
  temporaryBytes,
} from './limits.ts';
import { orderMounts } from './mounts.ts';
import { type HeldNetwork, holdNetwork, type Join } from './network.ts';
import { networkEnvironment, proxyPort } from './network-environment.ts';
import { startProxy } from './proxy.ts';
import type { Resolve } from './proxy-destinations.ts';
import type { UpstreamProxy } from './proxy-upstream.ts';
import { userOfRun, userRange } from './run-identity.ts';
import type {
  Limits,
  Mount,
  NetworkOptions,
  OpenAccess,
  OpenNetwork,
  RunIdentity,
  Sandbox,
  SandboxCommand,
  SandboxResult,
} from './sandbox.ts';
import { isSupportedArchitecture, seccompFilter } from './seccomp.ts';

export interface BubblewrapOptions {
  /** For files and sockets of the sandbox; created. Only the server may write it or its parents. */
  readonly directory: string;
  /** Certificates that commands trust besides the machine's: a PEM file. */
  readonly caBundle?: string | null;
  /** Path or name of the program, not below /tmp (see launch.ts); default `bwrap`. */
  readonly bwrap?: string;
  /** Size of /tmp where no mount takes its place; it is memory. */
  readonly temporaryBytes?: number;
  /** What runs reach the network through, see proxy-upstream.ts. */
  readonly upstream?: UpstreamProxy | null;
  /** How the proxy finds the addresses of a name; only tests have another than the system's. */
  readonly resolve?: Resolve;
  /** Between the second SIGINT and SIGKILL; only tests have less patience than limits.ts. */
  readonly forcedStopMs?: number;
  /** How long a network may take to open; only tests have less patience than limits.ts. */
  readonly networkOpeningMs?: number;
}

export interface Bubblewrap extends Sandbox {
  readonly kind: 'bubblewrap';
  /** Null when bwrap is not installed: then every command is `unavailable`. */
  readonly version: string | null;
  /** How far limits reach: `root` counts processes for each run by a user of its own. */
  readonly tier: 'root' | 'unprivileged';
}

/** Works before bwrap does, so that a server can start and say what is missing; see self-test.ts. */
export function createBubblewrap(options: BubblewrapOptions): Bubblewrap {
  // The kernel ends a sandbox with the thread that started it.
  if (!isMainThread) throw new Error('the sandbox has to be driven from the main thread');
  const { bwrap = 'bwrap' } = options;
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true });
  const host = prepareHostTree(directory, options.caBundle ?? null);
  const filter = isSupportedArchitecture(process.arch) ? seccompFilter(process.arch) : null;
  const hardLimits = parseHardLimits(readFileSync('/proc/self/limits', 'utf8'));
  const isRoot = process.getuid?.() === 0;
  const range = isRoot ? userRange(readFileSync('/proc/self/uid_map', 'utf8')) : null;
  const version = readVersion(bwrap);

  const networks = new WeakMap<OpenNetwork, HeldNetwork>();

  /** As far as the server itself may go. */
  const allowedProcesses = ({ processes }: Limits) =>
    Math.min(processes, hardLimits['nproc'] ?? Number.POSITIVE_INFINITY);

  /** The launch that commands and holders of a network share. */
  const launch = async (
    process: Pick<BubblewrapStart, 'command' | 'temporaries' | 'onStarted' | 'forcedStopMs'> & {
      readonly identity: RunIdentity;
    },
    mounts: readonly Mount[],
    join: Join | null,
    inside: (mounts: readonly Mount[]) => readonly string[],
  ): Promise<SandboxResult> => {
    const problem = await findProblem();
    if (filter === null || problem !== null) {
      return { kind: 'unavailable', message: problem ?? unsupported, durationMs: 0 };
    }
    const limits = { ...process.command.limits, processes: allowedProcesses(process.command.limits) };
    const command = { ...process.command, limits };
    if (command.signal.aborted) return notStarted;
    const user = range === null ? null : userOfRun(process.identity.key, range);
    return await runBubblewrap({
      ...process,
      command,
      launch: launchCommand({
        bwrap,
        limits,
        hardLimits,
        cgroup: null,
        join,
        user,
        mounts,
        outerStatus: descriptors.outerStatus,
        descriptorOptions: descriptorOptions(user === null),
        argv: command.argv,
      }),
      arguments: inside(stagedMounts(mounts, user)),
      filter,
      isStaged: user !== null,
      gatedProcesses: user === null ? limits.processes : null,
      mark: leftoverMark(directory),
    });
  };

  const run = async (command: SandboxCommand): Promise<SandboxResult> => {
    const mounts = [...host.mounts, ...orderMounts(command.mounts)];
    const network = command.network === null ? null : networks.get(command.network);
    if (network === undefined) throw new Error('the network of the command is not open');
    if (command.signal.aborted) return notStarted;
    const joined = network?.joined() ?? null;
    if (joined !== null && joined.join === null) {
      return { kind: 'unavailable', message: joined.problem, durationMs: 0 };
    }
    const own = { ...command.environment, PWD: command.workingDirectory };
    const environment = network === null ? own : networkEnvironment(own, host.hasCertificates);
    const process = {
      command,
      temporaries: privateTemporaries(mounts),
      identity: command.identity,
      forcedStopMs: options.forcedStopMs ?? forcedStopMs,
    };
    return launch(process, mounts, joined?.join ?? null, (staged) =>
      sandboxArguments({
        host,
        mounts: staged,
        temporaryBytes: options.temporaryBytes ?? temporaryBytes,
        workingDirectory: command.workingDirectory,
        environment,
        network: network === null ? 'none' : 'joined',
      }),
    );
  };

  const openNetwork = async (access: OpenAccess, options: NetworkOptions): Promise<OpenNetwork> => {
    const network = { kind: 'network', [Symbol.asyncDispose]: () => close(network) } as const;
    networks.set(network, await hold(access, options).catch(notHeld));
    return network;
  };
  const close = async (network: OpenNetwork) => {
    const held = networks.get(network);
    networks.delete(network);
    await held?.[Symbol.asyncDispose]();
  };

  const hold = async (
    access: OpenAccess,
    { identity, onConnection, onConnectionEnd, signal: stop = new AbortController().signal }: NetworkOptions,
  ): Promise<HeldNetwork> => {
    await using parts = new AsyncDisposableStack();
    const { resolve, upstream } = options;
    const proxy = parts.use(
      await startProxy({ access, directory, onConnection, onConnectionEnd, resolve, upstream }),
    );
    const socket = { source: proxy.socket, target: proxySocketInside, writable: false };
    const held = parts.use(
      await holdNetwork(
        ({ onStarted, onOutput, signal }) => {
          const argv = [nodeInside, forwarderInside, proxySocketInside, String(proxyPort)] as const;
          const command = { argv, limits: holderLimits, onOutput, signal };
          const process = { command, temporaries: [], identity, onStarted, forcedStopMs: holderForcedStopMs };
          return launch(process, [...host.holderMounts, socket], null, (staged) =>
            holderArguments(host, staged),
          );
        },
        {
          isPrivileged: isRoot,
          signal: stop,
          timeLimitMs: options.networkOpeningMs ?? networkOpeningMs,
        },
      ),
    );
    const opened = parts.move();
    return { joined: held.joined, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  };

  const findProblem = async (): Promise<string | null> => {
    if (isRoot && range === null) {
      return 'The server is root and has no users to give to runs (/proc/self/uid_map). Start it as an unprivileged user.';
    }
    // bwrap would pass them on, and a directory among them is the whole host.
    const inherited = inheritedDescriptors();
    if (inherited.length === 0) return null;
    await sleep(transientDescriptorMs);
    const stay = stillInherited(inherited).map(({ number, target }) => `${number} (${target})`);
    return stay.length === 0
      ? null
      : `Descriptors of the server would leak into the sandbox: ${stay.join(', ')}. Call closeInheritedDescriptors at its start.`;
  };

  return {
    kind: 'bubblewrap',
    version,
    tier: isRoot ? 'root' : 'unprivileged',
    run,
    openNetwork,
    describe: () => describe(version, isRoot),
    async own(path, identity) {
      if (range !== null) await ownDirectory(path, userOfRun(identity.key, range), launcherEnvironment);
    },
    remove: (path, identity) =>
      removeDirectory(path, launcherEnvironment, () => emptyInside(run, path, identity)),
  };
}

/** The mount point itself cannot be removed, so rm always fails in the end; what counts is that it is empty. */
async function emptyInside(run: Sandbox['run'], path: string, identity: RunIdentity): Promise<void> {
  const result = await run({
    identity,
    argv: ['/bin/sh', '-c', 'chmod -R u+rwX /remove; rm -rf /remove'],
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/',
    mounts: [{ source: path, target: '/remove', writable: true }],
    network: null,
    limits: { ...defaultLimits, outputBytes: Number.POSITIVE_INFINITY, silenceMs: null },
    onOutput: () => {},
    signal: new AbortController().signal,
  });
  if (result.kind === 'unavailable') throw new Error(result.message);
}

function notHeld(error: unknown): HeldNetwork {
  const problem = error instanceof Error ? error.message : String(error);
  return { joined: () => ({ join: null, problem }), async [Symbol.asyncDispose]() {} };
}

/** C libraries leave descriptors unmarked while they read a file, which takes milliseconds. */
const transientDescriptorMs = 100;

const notStarted = { kind: 'stopped', exitCode: null, durationMs: 0, usage: notMeasured } as const;

const unsupported = `There is no system-call filter for ${process.arch}; the sandbox runs on x64 and arm64.`;

function descriptorOptions(isGated: boolean): string[] {
  return [
    ...['--args', String(descriptors.arguments)],
    ...['--seccomp', String(descriptors.filter)],
    ...['--json-status-fd', String(descriptors.status)],
    ...(isGated ? ['--block-fd', String(descriptors.release)] : []),
  ];
}

function readVersion(bwrap: string): string | null {
  try {
    const answer = execFileSync(bwrap, ['--version'], {
      encoding: 'utf8',
      env: launcherEnvironment,
      timeout: 10_000,
    });
    return /\d+\.\d+\.\d+/.exec(answer)?.[0] ?? null;
  } catch {
    return null;
  }
}

function describe(version: string | null, isRoot: boolean): string {
  if (version === null) return 'bubblewrap: not installed';
  const tier = isRoot ? 'root, a user of its own for each run' : 'unprivileged';
  const flaw = hasSymlinkFlaw(version) ? '; 0.12 or newer is recommended' : '';
  return `bubblewrap ${version} (${tier}${flaw})`;
}
