import { invalid } from './invalid.ts';

export interface UpstreamProxySetting {
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

/** Of `http://host:port`, with `user:password@` in front of the host where it wants them, percent-encoded. */
export function upstreamProxy(text: string | null): UpstreamProxySetting | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url?.protocol === 'http:' && `${url.pathname}${url.search}${url.hash}` === '/';
  if (url === null || !isPlain || url.hostname === '') throw wrong();
  const user = decoded(url.username);
  const password = decoded(url.password);
  // What Basic cannot tell apart.
  if (user.includes(':')) throw wrong();
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 80 : Number(url.port),
    credentials: user === '' && password === '' ? null : { user, password },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong();
  }
}

/** Without the value: there may be a password in it. */
function wrong() {
  return invalid(
    'SANDBOX_UPSTREAM_PROXY: must be an address such as http://proxy.example:3128',
    'Credentials go in front of the host, percent-encoded: http://user:password@proxy.example:3128',
  );
}
