/**
 * The network of a run: a namespace with nothing in it but a loopback interface, kept by the process that listens
 * there. It is started once and joined by every command of the run, because starting it takes longer than a command
 * like `pulumi login` adds; the processes of a command still end with the command.
 */
import { closeSync, openSync, readlinkSync } from 'node:fs';
import { descendantsOf, type Process, readProcesses } from './process-tree.ts';
import type { SandboxResult } from './sandbox.ts';

/** Namespaces to enter before bwrap, as paths that stay right whatever becomes of the processes in them. */
export interface Join {
  readonly network: string;
  /** Of an unprivileged server, which has rights over the network only in the namespace that it belongs to. */
  readonly user: string | null;
}

export type HeldNetwork = AsyncDisposable &
  ({ readonly join: Join } | { readonly join: null; readonly problem: string });

export interface Holder {
  /** Called with the first process of the sandbox, as the host numbers it. */
  readonly onStarted: (init: Process) => void;
  readonly onOutput: (chunk: Uint8Array) => void;
  readonly signal: AbortSignal;
}

/** `start` runs forwarder.cjs in a sandbox until it is told to stop. Rejects with what stands in the way. */
export async function holdNetwork(
  start: (holder: Holder) => Promise<SandboxResult>,
  isPrivileged: boolean,
): Promise<AsyncDisposable & { readonly join: Join }> {
  const stop = new AbortController();
  // Two pipes: on a busy machine the forwarder is heard before bwrap's word of its process.
  const started = Promise.withResolvers<Process>();
  const listening = Promise.withResolvers<null>();
  let output = '';
  const ended = start({
    onStarted: started.resolve,
    onOutput: (chunk) => {
      output += Buffer.from(chunk).toString('utf8');
      if (output.startsWith('listening\n')) listening.resolve(null);
    },
    signal: stop.signal,
  });
  const result = await Promise.race([Promise.all([started.promise, listening.promise]), ended]);
  const close = async () => {
    stop.abort();
    await ended;
  };
  if (!Array.isArray(result)) {
    await close();
    throw new Error(result.kind === 'unavailable' ? result.message : `the forwarder ended: ${output.trim()}`);
  }
  const opened = openNamespaces(result[0]);
  if (opened === null) {
    await close();
    throw new Error('the network namespace of the forwarder was not found');
  }
  const path = (descriptor: number) => `/proc/${process.pid}/fd/${descriptor}`;
  return {
    join: { network: path(opened.network), user: isPrivileged ? null : path(opened.user) },
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
function openNamespaces(init: Process): { network: number; user: number } | null {
  const ofServer = readlinkSync('/proc/self/ns/net');
  for (const { pid } of [init, ...descendantsOf(init.pid, readProcesses())]) {
    try {
      const network = openSync(`/proc/${pid}/ns/net`, 'r');
      if (readlinkSync(`/proc/self/fd/${network}`) !== ofServer) {
        return { network, user: openSync(`/proc/${pid}/ns/user`, 'r') };
      }
      closeSync(network);
    } catch {
      // It has ended, or is of the host's users.
    }
  }
  return null;
}
