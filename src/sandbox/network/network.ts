/**
 * The network of a run: a namespace with nothing in it but a loopback interface, kept by the process that listens
 * there. It is started once and joined by every command of the run, because starting it takes longer than a command
 * like `pulumi login` adds; the processes of a command still end with the command.
 */
import { closeSync, openSync, readlinkSync } from 'node:fs';
import { descendantsOf, type Process, readProcesses } from '../process-tree.ts';
import type { SandboxResult } from '../sandbox.ts';

/** Namespaces to enter before bwrap, as paths that stay right whatever becomes of the processes in them. */
export interface Join {
  readonly network: string;
  /** Of an unprivileged server, which has rights over the network only in the namespace that it belongs to. */
  readonly user: string | null;
}

/** `problem`: why there is nothing to join, or nothing any more. */
export type Joined = { readonly join: Join } | { readonly join: null; readonly problem: string };

export interface HeldNetwork extends AsyncDisposable {
  /** As it is now: what holds the network open may end at any time. */
  readonly joined: () => Joined;
}

export interface Holder {
  /** Called with the first process of the sandbox, as the host numbers it. */
  readonly onStarted: (init: Process) => void;
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;
  readonly signal: AbortSignal;
}

export interface HoldOptions {
  /** Of the server. */
  readonly isPrivileged: boolean;
  /** Gives up the opening; once it is open, only closing it ends it. */
  readonly signal: AbortSignal;
  /** For the opening, which takes 60 ms on a quiet machine. */
  readonly timeLimitMs: number;
}

/**
 * `start` runs forwarder.cjs in a sandbox until it is told to stop. Rejects with what stands in the way; nothing is left
 * of it then.
 */
export async function holdNetwork(
  start: (holder: Holder) => Promise<SandboxResult>,
  { isPrivileged, signal, timeLimitMs }: HoldOptions,
): Promise<HeldNetwork> {
  const stop = new AbortController();
  // Two pipes: on a busy machine the forwarder is heard before bwrap's word of its process.
  const started = Promise.withResolvers<Process>();
  const listening = Promise.withResolvers<null>();
  const gaveUp = Promise.withResolvers<Error>();
  const said = { stdout: '', stderr: '' };
  const reason = (result: SandboxResult) =>
    result.kind === 'unavailable'
      ? result.message
      : [`the forwarder ended (${result.kind})`, said.stderr.trim() || said.stdout.trim()]
          .filter((part) => part !== '')
          .join(': ');
  const ended = start({
    onStarted: started.resolve,
    onOutput: (stream, chunk) => {
      said[stream] += Buffer.from(chunk).toString('utf8');
      if (said.stdout.split('\n').slice(0, -1).includes('listening')) listening.resolve(null);
    },
    signal: stop.signal,
  }).then(reason, String);
  const close = async () => {
    stop.abort();
    await ended;
  };

  const giveUp = () => gaveUp.resolve(new Error('it was stopped while its network was opened'));
  const timer = setTimeout(
    () => gaveUp.resolve(new Error(`the network of the run was not open within ${timeLimitMs / 1000} s`)),
    timeLimitMs,
  );
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const ready = Promise.all([started.promise, listening.promise]);
  const result = await Promise.race([ready, ended, gaveUp.promise]).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  });
  if (!Array.isArray(result)) {
    await close();
    throw result instanceof Error ? result : new Error(result);
  }
  let opened: { network: number; user: number };
  try {
    opened = openNamespaces(result[0]);
  } catch (error) {
    await close();
    throw error;
  }
  const path = (descriptor: number) => `/proc/${process.pid}/fd/${descriptor}`;
  let now: Joined = {
    join: { network: path(opened.network), user: isPrivileged ? null : path(opened.user) },
  };
  // The kernel may choose it when memory runs out, as it may choose every process of a sandbox.
  void ended.then((why) => {
    now = { join: null, problem: `the network of the run ended: ${why}` };
  });
  return {
    joined: () => now,
    async [Symbol.asyncDispose]() {
      closeSync(opened.network);
      closeSync(opened.user);
      await close();
    },
  };
}

/**
 * By descriptor: a pid may be used again, and commands would join whatever namespace its new owner is in. Judged after
 * it was opened, for the same reason.
 */
function openNamespaces(init: Process): { network: number; user: number } {
  const ofServer = readlinkSync('/proc/self/ns/net');
  for (const { pid } of [init, ...descendantsOf(init.pid, readProcesses())]) {
    const network = openIfThere(`/proc/${pid}/ns/net`);
    if (network === null) continue;
    const isOfServer = readlinkSync(`/proc/self/fd/${network}`) === ofServer;
    const user = isOfServer ? null : openIfThere(`/proc/${pid}/ns/user`);
    if (user !== null) return { network, user };
    closeSync(network);
  }
  throw new Error('the network namespace of the forwarder was not found');
}

/** Null: the process has ended, or is of the host's users. */
function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
