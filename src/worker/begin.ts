import type { Phase } from '../runs/run-store.ts';
import { trustOfRun } from '../runs/trust.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { RunContext, WorkerOptions } from './run-context.ts';
import { accessOf, createRunNetwork } from './run-network.ts';
import type { Assignment } from './server-api.ts';
import type { Vendor } from './vendor.ts';
import type { Workspace } from './workspace.ts';

/** Why the work on an assignment may have to stop. */
export interface Signals {
  /** The run ended or the lease was lost. */
  readonly over: AbortSignal;
  /** The lease was lost: nothing more may be done, not even the clearing up. */
  readonly lost: AbortSignal;
  /** The worker stops: a first half is given up, an apply is not. */
  readonly draining: AbortSignal;
}

/** What all work on an assignment shares: why it may have to stop, what is secret, what hooks exported, how far it came. */
export interface Circumstances {
  readonly signals: Signals;
  readonly secrets: KnownSecrets;
  readonly exports: Record<string, string>;
  readonly reached: { phase: Phase };
}

/** Work that was begun on an assignment; disposing it ends what it opened. */
export interface Execution extends AsyncDisposable {
  readonly context: RunContext;
  /** From now on the work changes the world: it is no longer given up for a clean stop. False: it was already. */
  commit(): boolean;
}

export function begin(
  options: WorkerOptions,
  assignment: Assignment,
  vendor: Vendor,
  workspace: Workspace,
  { signals, secrets, exports, reached }: Circumstances,
): Execution {
  const stop = new AbortController();
  const abort = () => stop.abort();
  if (signals.over.aborted) abort();
  signals.over.addEventListener('abort', abort, { once: true });
  signals.draining.addEventListener('abort', abort, { once: true });
  if (signals.draining.aborted && assignment.half === 'plan') abort();
  const { run, half } = assignment;
  const network = createRunNetwork({
    sandbox: options.sandbox,
    access: accessOf(options.network, run),
    identity: workspace.identity,
    announces: half === 'plan' && trustOfRun(run) === 'untrusted',
  });
  return {
    commit() {
      signals.draining.removeEventListener('abort', abort);
      return !stop.signal.aborted;
    },
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
    context: {
      ...options,
      network,
      assignment,
      vendor,
      workspace,
      signal: stop.signal,
      draining: signals.draining,
      projectRoot: workspace.inside.tree,
      secrets,
      exports,
      reached,
    },
  };
}
