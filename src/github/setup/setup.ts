import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { UserError } from '../../user-error.ts';
import { createFlow, type Flow, type FlowOptions, type RegisteredApp } from './flow.ts';

export interface SetupOptions extends Omit<FlowOptions, 'origin'> {
  /** 0: any free one. */
  readonly port: number;
  readonly timeoutMs: number;
  /** Where it is reached; whoever has the link may register the App. */
  readonly onListening: (link: string, port: number) => void;
}

/**
 * Serves the registration of the App on loopback until it is done. Throws UserError: what `credentials.check` throws,
 * `cannot-listen`, `setup-timed-out`, `interrupted`.
 */
export async function registerApp(options: SetupOptions): Promise<RegisteredApp> {
  const { credentials, signal } = options;
  await credentials.check();
  const ending = new AbortController();
  const server = createServer({ requestTimeout: 20_000, headersTimeout: 20_000 });
  const port = await listen(server, options.port);
  try {
    const flow = createFlow({
      ...options,
      origin: `http://127.0.0.1:${port}`,
      signal: AbortSignal.any([signal, ending.signal]),
    });
    serve(server, flow);
    options.onListening(flow.link, port);
    return await Promise.race([flow.registered, ended(signal, options.timeoutMs, ending.signal)]);
  } finally {
    ending.abort();
    await close(server);
  }
}

function serve(server: Server, flow: Flow): void {
  const unreadable = () => new Response('Not a request', { status: 400 });
  const listener = getRequestListener((request) => flow.fetch(request), {
    overrideGlobalObjects: false,
    errorHandler: unreadable,
  });
  server.on('request', (request, response) => void listener(request, response));
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is taken' : (cause.code ?? cause.message);
      const hint = 'Leave --port out for any free one.';
      reject(new UserError('cannot-listen', `Cannot listen on 127.0.0.1:${port}: ${why}`, { hint, cause }));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Rejects when it takes too long or somebody ends it; never resolves. */
function ended(interrupted: AbortSignal, timeoutMs: number, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => {
      const minutes = Math.round(timeoutMs / 60_000);
      reject(endedEarly('setup-timed-out', `No App was registered within ${minutes} minutes.`));
    }, timeoutMs);
    over.addEventListener('abort', () => clearTimeout(timer), { once: true });
    const stop = () => reject(endedEarly('interrupted', 'Ended before an App was registered.'));
    if (interrupted.aborted) stop();
    else interrupted.addEventListener('abort', stop, { once: true, signal: over });
  });
}

function endedEarly(code: string, message: string): UserError {
  const hint = 'If GitHub made an App by then, delete it there before you begin again.';
  return new UserError(code, message, { hint });
}

const graceMs = 2000;

/** The last page still arrives. */
async function close(server: Server): Promise<void> {
  const limit = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(limit);
}
