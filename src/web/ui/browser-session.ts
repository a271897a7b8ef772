import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { isFormToken, longestMs, type Session, type Sessions } from '../../access/sessions.ts';
import { UserError } from '../../user-error.ts';

/**
 * The session of a browser, by its cookie. Over https the cookies have the prefix that keeps other hosts of the
 * domain from setting them (RFC 6265bis, 4.1.3.2).
 */
export interface BrowserSessions {
  of(request: Request): Promise<Session | null>;
  /** The token in the cookie, whatever it is worth. */
  tokenOf(request: Request): string | null;
  set(c: Context, token: string): void;
  clear(c: Context): void;
  readonly memo: {
    read(c: Context): string | null;
    set(c: Context, memo: string): void;
    clear(c: Context): void;
  };
}

const memoSeconds = 600;

export function createBrowserSessions(parts: {
  sessions: Pick<Sessions, 'authenticate'>;
  publicUrl: () => string;
}): BrowserSessions {
  const isSecure = () => new URL(parts.publicUrl()).protocol === 'https:';
  const nameOf = (name: string) => (isSecure() ? `__Host-${name}` : name);
  // Lax: a link on GitHub leads to a run page, and there the person is logged in.
  const attributes = () => ({ httpOnly: true, secure: isSecure(), sameSite: 'Lax', path: '/' }) as const;
  const sessionName = () => nameOf('slipway');
  const memoName = () => nameOf('slipway-login');

  function tokenOf(request: Request): string | null {
    const wanted = `${sessionName()}=`;
    const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? null;
  }

  return {
    tokenOf,
    async of(request) {
      const token = tokenOf(request);
      return token ? parts.sessions.authenticate(token) : null;
    },
    set(c, token) {
      setCookie(c, sessionName(), token, { ...attributes(), maxAge: longestMs / 1000 });
    },
    clear(c) {
      deleteCookie(c, sessionName(), attributes());
    },
    memo: {
      read: (c) => getCookie(c, memoName()) ?? null,
      set: (c, memo) => setCookie(c, memoName(), memo, { ...attributes(), maxAge: memoSeconds }),
      clear: (c) => void deleteCookie(c, memoName(), attributes()),
    },
  };
}

/**
 * What a browser sends along in somebody's name may come from any page: it counts only when it comes from a page of
 * ours and carries what only such a page knows. Throws `forbidden`.
 */
export function requireOwnPage(request: Request, session: Session, given: string | null | undefined): void {
  const site = request.headers.get('sec-fetch-site');
  const isForeign = site !== null && site !== 'same-origin';
  if (!isForeign && given && isFormToken(session, given)) return;
  throw new UserError('forbidden', 'This was not sent by a page of this server, or the page is too old.', {
    hint: 'Load the page again, then try once more.',
  });
}

export const formTokenField = 'form_token';
export const formTokenHeader = 'x-form-token';
