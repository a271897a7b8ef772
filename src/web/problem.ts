import { STATUS_CODES } from 'node:http';
import { HTTPException } from 'hono/http-exception';
import { type FieldIssue, UserError } from '../user-error.ts';

/**
 * Errors as RFC 9457 problems. The one table from codes to status codes is here; a code that callers may rely
 * on stands in it and in docs/api.md (held together by test/web/problem.test.ts).
 */
const statuses = {
  'malformed-request': 400,
  'header-missing': 400,
  'not-json': 400,
  unauthenticated: 401,
  'signature-invalid': 401,
  forbidden: 403,
  'login-refused': 403,
  'not-found': 404,
  'exchange-missing': 404,
  'method-not-allowed': 405,
  'stack-exists': 409,
  'stack-busy': 409,
  locked: 409,
  'state-conflict': 409,
  'run-not-over': 409,
  'approval-required': 409,
  'no-approval-policies': 409,
  'not-denied': 409,
  'nothing-to-mend': 409,
  'webhook-disabled': 409,
  'endpoint-not-unique': 409,
  'replay-running': 409,
  'test-running': 409,
  'managed-by-file': 409,
  'repository-away': 409,
  'delivery-pending': 409,
  'idempotency-key-in-use': 409,
  'policy-name-taken': 409,
  'policy-attached-by-label': 409,
  'body-dropped': 410,
  'log-removed': 410,
  'precondition-failed': 412,
  'payload-too-large': 413,
  'unsupported-media-type': 415,
  'invalid-input': 422,
  'repository-not-installed': 422,
  'login-url-not-allowed': 422,
  'environment-name-refused': 422,
  'endpoint-refused': 422,
  'commit-not-found': 422,
  'commit-not-tracked': 422,
  'forks-not-allowed': 422,
  'command-required': 422,
  'confirmation-required': 422,
  'modules-unavailable': 422,
  'policy-invalid': 422,
  'policy-not-attachable': 422,
  'idempotency-key-reused': 422,
  'rate-limited': 429,
  'internal-error': 500,
  'secret-key-wrong': 500,
  'github-unavailable': 502,
  'source-unavailable': 502,
  'too-many-streams': 503,
  'storage-full': 503,
  'github-not-configured': 503,
  'policy-engine-unavailable': 503,
} as const satisfies Readonly<Record<string, number>>;

export type ProblemCode = keyof typeof statuses;
export const problemStatuses: Readonly<Record<string, number>> = statuses;
export const problemCodes = Object.keys(statuses) as [ProblemCode, ...ProblemCode[]];

export interface ProblemDetails {
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly errors?: readonly FieldIssue[];
  /** Extension members, e.g. `state` and `stateVersion` of a conflict. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a problem says, as far as we read it back. */
export interface Problem {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly hint?: string;
  readonly errors?: readonly FieldIssue[];
}

export function problem(code: ProblemCode, details: ProblemDetails): Response {
  return problemResponse(code, statuses[code], details);
}

/** Ends the request with a problem that says more than a UserError can. */
export function refuse(code: ProblemCode, details: ProblemDetails): never {
  const res = problem(code, details);
  throw new HTTPException(statuses[code], { res });
}

/** A UserError with a code that is not in the table is still fit to be read: it is the request that cannot be met. */
export function problemOf(error: UserError): Response {
  const { code, message: detail, hint, issues } = error;
  return problemResponse(code, problemStatuses[code] ?? 422, {
    detail,
    hint,
    ...(issues.length > 0 ? { errors: issues } : {}),
  });
}

export function problemResponse(code: string, status: number, details: ProblemDetails): Response {
  const { detail, hint, errors, extra, headers } = details;
  const body = { code, title: STATUS_CODES[status] ?? 'Error', status, detail, hint, errors, ...extra };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}

/** The answer for what does not exist and for what the actor may not know of: they must look the same. */
export function notFound(): UserError {
  return new UserError('not-found', 'There is nothing here that you may see.', {
    hint: 'Check the address, and what this token or login may see.',
  });
}
