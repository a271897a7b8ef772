import { rightsOf, trustOfRun } from '../runs/trust.ts';
import type { NetworkAccess, OpenNetwork, RunIdentity, Sandbox } from '../sandbox/sandbox.ts';
import type { PhaseLog } from './logs.ts';
import { createNetworkReport } from './network-report.ts';
import type { Assignment } from './server-api.ts';

/** What the commands of a run may reach, by what its trust gives them. */
export interface NetworkPolicy {
  readonly all: NetworkAccess;
  readonly listed: NetworkAccess;
}

export interface NetworkSettings {
  readonly network: NetworkAccess['mode'];
  readonly allowedHosts: readonly string[];
  readonly untrustedHosts: readonly string[];
}

/** The way out that the commands of one half share. Whoever runs at the moment is told of its connections. */
export interface RunNetwork extends AsyncDisposable {
  /** Opened by the first call; null where commands get no network. The signal of any call gives up the opening. */
  open(signal?: AbortSignal): Promise<OpenNetwork | null>;
  /** A command begins: its log is told what is refused. The first log also hears what an untrusted run may reach. */
  tellTo(log: Pick<PhaseLog, 'line' | 'flush'>): void;
  /** The command has ended: its log is told what was reached. What is open still is told by the next, or at the end. */
  summarize(): Promise<void>;
}

interface RunNetworkParts {
  readonly sandbox: Pick<Sandbox, 'openNetwork'>;
  readonly access: NetworkAccess;
  readonly identity: RunIdentity;
  /** The run is not trusted, and this is the first that its log hears. */
  readonly announces: boolean;
}

/** What a destination gets to close its side, once the command has ended. */
const closingMs = 500;
/** Of the hosts of a list, which may be long. */
const maxAnnounced = 20;

export function networkPolicy({ network, allowedHosts, untrustedHosts }: NetworkSettings): NetworkPolicy {
  if (network === 'none') return { all: { mode: network }, listed: { mode: network } };
  return {
    all: { mode: network, allowedHosts },
    listed: { mode: 'allowlist', allowedHosts: untrustedHosts, setting: 'SANDBOX_UNTRUSTED_HOSTS' },
  };
}

export function accessOf(policy: NetworkPolicy, run: Assignment['run']): NetworkAccess {
  return policy[rightsOf(trustOfRun(run)).network];
}

export function createRunNetwork({ sandbox, access, identity, announces }: RunNetworkParts): RunNetwork {
  let opening: Promise<OpenNetwork> | null = null;
  let log: Pick<PhaseLog, 'line' | 'flush'> | null = null;
  const report = createNetworkReport();
  const stop = new AbortController();
  const abort = () => stop.abort();
  return {
    async open(signal) {
      if (signal?.aborted) abort();
      signal?.addEventListener('abort', abort, { once: true, signal: stop.signal });
      if (access.mode === 'none' || opening !== null) return opening;
      opening = sandbox.openNetwork(access, {
        identity,
        signal: stop.signal,
        onConnection: report.onConnection,
        onConnectionEnd: report.onConnectionEnd,
      });
      return opening;
    },
    tellTo(next) {
      if (log === null && announces) next.line(announcement(access));
      log = next;
      report.tellTo((text) => next.line(text));
    },
    async summarize() {
      await report.settled(closingMs);
      report.summarize();
    },
    async [Symbol.asyncDispose]() {
      abort();
      const opened = await opening?.catch(() => null);
      await opened?.[Symbol.asyncDispose]();
      report.summarize();
      // How a half ended does not change because its last lines cannot be stored.
      await log?.flush().catch(() => undefined);
    },
  };
}

function announcement(access: NetworkAccess): string {
  if (access.mode === 'none') return '[network: this run may reach nothing (SANDBOX_NETWORK=none)]';
  const { allowedHosts, setting } = access;
  if (allowedHosts.length === 0) {
    return `[network: this run is not trusted and may reach nothing: ${setting} of the server is empty, where an operator lists package registries]`;
  }
  const more = allowedHosts.length > maxAnnounced ? ` and ${allowedHosts.length - maxAnnounced} more` : '';
  const hosts = `${allowedHosts.slice(0, maxAnnounced).join(', ')}${more}`;
  return `[network: this run is not trusted and may reach ${hosts} only (${setting})]`;
}
