import { errors } from 'undici';

/**
 * What went wrong with an attempt, in one word for people and metrics, decided by the codes of Node and
 * undici and never by their texts.
 */
export type FailureKind =
  /** Answered, but not with 2xx. */
  | 'status'
  | 'timeout'
  | 'dns'
  | 'refused'
  | 'reset'
  | 'unreachable'
  | 'tls'
  /** Answered with something that is not HTTP. */
  | 'protocol'
  | 'network'
  /** Our own fault; the log has more. */
  | 'internal';

const kinds: readonly (readonly [FailureKind, RegExp])[] = [
  ['dns', /^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL|ETIMEOUT)$/],
  ['refused', /^ECONNREFUSED$/],
  ['reset', /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/],
  ['unreachable', /^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/],
  ['timeout', /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/],
  ['tls', /^(CERT_.*|ERR_TLS_.*|ERR_SSL_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|INVALID_CA|EPROTO)$/],
  ['protocol', /^(HPE_.*|UND_ERR_.*)$/],
];

export function classify(error: Error): { readonly kind: FailureKind; readonly code: string | null } {
  const code = codeOf(error);
  // Not every error of the parser has a code.
  if (error instanceof errors.HTTPParserError) return { kind: 'protocol', code };
  const kind = kinds.find(([, codes]) => code !== null && codes.test(code))?.[0] ?? 'network';
  return { kind, code };
}

function codeOf(error: Error): string | null {
  if ('code' in error && typeof error.code === 'string') return error.code;
  // All addresses of a name failed: the first says why.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? codeOf(first) : null;
}
