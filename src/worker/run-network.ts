import type {
  ConnectionDecision,
  NetworkAccess,
  OpenNetwork,
  RunIdentity,
  Sandbox,
} from '../sandbox/sandbox.ts';

/** The way out that the commands of one half share. Whoever runs at the moment is told of its connections. */
export interface RunNetwork extends AsyncDisposable {
  /** Opened by the first call; null where commands get no network. The signal of any call gives up the opening. */
  open(signal?: AbortSignal): Promise<OpenNetwork | null>;
  report(onConnection: (connection: ConnectionDecision) => void): void;
}

export function createRunNetwork(
  sandbox: Pick<Sandbox, 'openNetwork'>,
  access: NetworkAccess,
  identity: RunIdentity,
): RunNetwork {
  let opening: Promise<OpenNetwork> | null = null;
  let report: (connection: ConnectionDecision) => void = () => undefined;
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
        onConnection: (connection) => report(connection),
      });
      return opening;
    },
    report(onConnection) {
      report = onConnection;
    },
    async [Symbol.asyncDispose]() {
      abort();
      const opened = await opening?.catch(() => null);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
