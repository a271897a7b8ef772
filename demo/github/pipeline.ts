/** What every request passes before its route: who is it, write it down, fail if so ordered, refuse bad credentials. */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, MiddlewareHandler } from 'hono';
import { ApiError, errorResponse, invalidRequest } from './api-error.ts';
import { type Caller, identify } from './caller.ts';
import { violationOf } from './contract/contract.ts';
import type { Fault, Faults } from './faults.ts';
import type { GithubState } from './state.ts';

// A type, as Hono's generic wants an index signature that interfaces lack.
export type ApiEnv = { Bindings: HttpBindings; Variables: { caller: Caller; recorded: RecordedRequest } };
export type ApiContext = Context<ApiEnv>;

export interface RecordedRequest {
  method: string;
  /** Without /api/v3 and without the query. */
  path: string;
  query: Record<string, string>;
  authKind: 'app' | 'installation' | 'user' | 'none';
  installationId: number | null;
  /** Parsed JSON (or a form's fields); null when there was none, and for Git. */
  body: unknown;
  /** 0 until answered. */
  status: number;
  /** Performed, but the client was cut off before the answer. */
  lost: boolean;
  atMs: number;
}

export function recording(state: GithubState, requests: RecordedRequest[]): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const caller = identify(state, c.req.header('authorization'));
    const recorded: RecordedRequest = {
      method: c.req.method,
      path: unprefixed(c.req.path),
      query: c.req.query(),
      authKind: caller.kind === 'refused' ? 'none' : caller.kind,
      installationId: caller.kind === 'installation' ? caller.token.installation.id : null,
      body: await recordedBody(c),
      status: 0,
      lost: false,
      atMs: state.nowMs(),
    };
    requests.push(recorded);
    c.set('caller', caller);
    c.set('recorded', recorded);
    await next();
    // The Git route and a dropped answer have written it already.
    if (recorded.status === 0) recorded.status = c.res.status;
  };
}

/** Before any order to fail: what GitHub would refuse is wrong whatever comes of it. */
export function holdingToContract(violations: string[]): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const violation = violationOf(c.get('recorded'));
    if (violation === null) {
      await next();
      return;
    }
    violations.push(violation);
    return errorResponse(invalidRequest(violation));
  };
}

export function failing(faults: Faults): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const fault = faults.take(c.req.method, unprefixed(c.req.path));
    if (fault && !fault.dropAnswer) return faultResponse(fault);
    await next();
    if (!fault) return;
    const recorded = c.get('recorded');
    recorded.status ||= c.res.status;
    recorded.lost = true;
    c.env.incoming.socket.destroy();
    c.res = RESPONSE_ALREADY_SENT;
    return;
  };
}

function faultResponse(fault: Fault): Response {
  const { status = 500 } = fault;
  const message = fault.message ?? `Ordered by failNext: ${status}`;
  return errorResponse(new ApiError(status, message, { headers: fault.headers ?? {} }));
}

export const refusingBadCredentials: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const caller = c.get('caller');
  if (caller.kind === 'refused') {
    return errorResponse(new ApiError(401, caller.message, { headers: gitChallenge(c) }));
  }
  if (caller.kind === 'installation' && caller.token.installation.suspendedAtMs !== null) {
    return errorResponse(new ApiError(403, suspended));
  }
  await next();
  return;
};

export const suspended = 'This installation has been suspended';

/** Git asks for credentials only when challenged. */
export function gitChallenge(c: ApiContext): Record<string, string> {
  return isGit(c.req.path) ? { 'www-authenticate': 'Basic realm="GitHub"' } : {};
}

const isGit = (path: string): boolean => /\.git\/(info\/refs|git-[a-z-]+)$/.test(path);

const unprefixed = (path: string): string => path.replace(/^\/api\/v3(?=\/|$)/, '');

async function recordedBody(c: ApiContext): Promise<unknown> {
  if (isGit(c.req.path) || ['GET', 'HEAD'].includes(c.req.method)) return null;
  const text = await c.req.text();
  if (text === '') return null;
  if (c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
