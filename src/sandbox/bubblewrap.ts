/**
 * The sandbox on Linux: bwrap, driven directly.
 *
 * This file puts one command together. What the command sees is in arguments.ts, the way to bwrap in launcher.ts and
 * launch.ts, the process in bubblewrap-process.ts, the clocks in supervise.ts, the way out in network.ts and proxy.ts. Every value
 * travels on a descriptor, because command lines are world-readable. It refuses to know what a command is for.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { Delegation } from './cgroup/delegation.ts';
import { ownDirectory, removeDirectory } from './directories.ts';
import { holderArguments, privateTemporaries, sandboxArguments } from './launching/arguments.ts';
import { launcherEnvironment } from './launching/bubblewrap-process.ts';
import { forwarderInside, nodeInside, prepareHostTree, proxySocketInside } from './launching/host-tree.ts';
import { createLauncher, notStarted } from './launching/launcher.ts';
import { orderMounts } from './launching/mounts.ts';
import {
  defaultLimits,
  forcedStopMs,
  holderForcedStopMs,
  holderLimits,
  networkOpeningMs,
  temporaryBytes,
} from './limits.ts';
import { type HeldNetwork, holdNetwork } from './network/network.ts';
import { networkEnvironment, proxyPort } from './network/network-environment.ts';
import { startProxy } from './network/proxy.ts';
import type { Resolve } from './network/proxy-destinations.ts';
import type { UpstreamProxy } from './network/proxy-upstream.ts';
import type {
  NetworkOptions,
  OpenAccess,
  OpenNetwork,
  RunIdentity,
  Sandbox,
  SandboxCommand,
  SandboxResult,
} from './sandbox.ts';
import { describeBubblewrap, shortcomings, type Tier, tierOf } from './tier.ts';

export interface BubblewrapOptions {
  /** For files and sockets of the sandbox; created. Only the server may write it or its parents. */
  readonly directory: string;
  /** Certificates that commands trust besides the machine's: a PEM file. */
  readonly caBundle?: string | null;
  /** Path or name of the program, not below /tmp (see launch.ts); default `bwrap`. */
  readonly bwrap?: string;
  /** Whether each command gets a cgroup of its own; by default none does. */
  readonly delegation?: Delegation;
  /** Processors that a command may keep busy, where it has a cgroup; null = all there are. */
  readonly cpus?: number | null;
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
  readonly tier: Tier;
  /** What would make its limits reach further on this machine. */
  readonly shortcomings: readonly string[];
  readonly hasCgroups: boolean;
}

/** Works before bwrap does, so that a server can start and say what is missing; see self-test.ts. */
export function createBubblewrap(options: BubblewrapOptions): Bubblewrap {
  // The kernel ends a sandbox with the thread that started it.
  if (!isMainThread) throw new Error('the sandbox has to be driven from the main thread');
  const { bwrap = 'bwrap' } = options;
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true });
  const host = prepareHostTree(directory, options.caBundle ?? null);
  const delegation = options.delegation ?? { kind: 'none', problem: 'no cgroup was asked for' };
  const cpus = options.cpus ?? null;
  const { isRoot, userOf, launch } = createLauncher({ bwrap, directory, delegation, cpus });
  const abilities = { isRoot, delegation, cpus };
  const version = readVersion(bwrap);

  const networks = new WeakMap<OpenNetwork, HeldNetwork>();

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
    return launch({
      command,
      identity: command.identity,
      mounts,
      temporaries: privateTemporaries(mounts),
      join: joined?.join ?? null,
      inside: (staged) =>
        sandboxArguments({
          host,
          mounts: staged,
          temporaryBytes: options.temporaryBytes ?? temporaryBytes,
          workingDirectory: command.workingDirectory,
          environment,
          network: network === null ? 'none' : 'joined',
        }),
      forcedStopMs: options.forcedStopMs ?? forcedStopMs,
    });
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
          return launch({
            command: { argv, limits: holderLimits, onOutput, signal },
            identity,
            mounts: [...host.holderMounts, socket],
            temporaries: [],
            join: null,
            inside: (staged) => holderArguments(host, staged),
            onStarted,
            forcedStopMs: holderForcedStopMs,
          });
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

  return {
    kind: 'bubblewrap',
    version,
    tier: tierOf(abilities),
    shortcomings: shortcomings(abilities),
    hasCgroups: delegation.kind === 'delegated',
    run,
    openNetwork,
    describe: () => describeBubblewrap(version, abilities),
    async own(path, identity) {
      const user = userOf(identity);
      if (user !== null) await ownDirectory(path, user, launcherEnvironment);
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
