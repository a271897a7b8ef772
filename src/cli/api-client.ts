import { UserError } from '../user-error.ts';
import { type CliContext, configOf, openLocal } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, failureOfResponse, strangeAnswer } from './failure.ts';

/**
 * The HTTP API, of a remote server when SLIPWAY_URL is set, else of the data directory here, in this process.
 * Both are spoken to alike, so that a command cannot do more in one place than in the other.
 */
export interface ApiClient extends AsyncDisposable {
  /** The parsed answer, null without one. Throws CliFailure for everything but success. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** An answer that goes on; the caller reads it. Throws CliFailure for everything but success. */
  open(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

const timeoutMs = 30_000;

export async function connect(context: CliContext): Promise<ApiClient> {
  const config = configOf(context);
  const client = config.remote
    ? remote(context, config.remote)
    : await local(await openLocal(context, config));

  async function send(request: Request): Promise<Response> {
    const response = await client.send(request);
    if (response.ok) return response;
    throw await failureOfResponse(response);
  }

  return {
    async call(method, path, body) {
      const request = new Request(client.url + path, {
        method,
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await (await send(request)).text();
      try {
        return text === '' ? null : JSON.parse(text);
      } catch {
        throw strangeAnswer('The answer of the server is not JSON.');
      }
    },
    open: (path, headers = {}) => send(new Request(client.url + path, { headers: { ...headers } })),
    [Symbol.asyncDispose]: client.close,
  };
}

interface Transport {
  readonly url: string;
  send(request: Request): Promise<Response>;
  close(): Promise<void>;
}

async function local(app: Awaited<ReturnType<CliContext['openApp']>>): Promise<Transport> {
  return {
    // Never resolved: the request does not leave the process.
    url: 'http://slipway.invalid',
    send: (request) => app.fetchAs({ kind: 'operator' }, request),
    close: async () => app[Symbol.asyncDispose](),
  };
}

function remote(context: CliContext, { url, token }: { url: string; token: string }): Transport {
  return {
    url,
    async send(request) {
      request.headers.set('authorization', `Bearer ${token}`);
      let response: Response;
      try {
        // Not followed: the token would go along, or a POST become a GET.
        response = await context.fetch(request, { redirect: 'manual' });
      } catch (cause) {
        throw unreachable(url, cause);
      }
      if (response.status >= 300 && response.status < 400) {
        const hint = `Set SLIPWAY_URL to where it leads: ${response.headers.get('location') ?? 'unknown'}`;
        throw new UserError('server-redirects', `${url} redirects.`, { hint });
      }
      return response;
    },
    close: async () => {},
  };
}

function unreachable(url: string, cause: unknown): CliFailure {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const reason = inner instanceof Error ? inner.message : String(inner);
  const message = `${url} cannot be reached: ${reason}`;
  const hint = 'Check SLIPWAY_URL, and that the server runs.';
  return new CliFailure(exitCodes.unreachable, message, {
    hint,
    json: { code: 'server-unreachable', detail: message, hint },
  });
}
