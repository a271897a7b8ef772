import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../user-error.ts';
import type { Person } from './sessions.ts';

/** Who somebody is, as GitHub says. */
export interface Identity {
  readonly person: Person;
  /** Asked of GitHub in the person's name. Throws `github-unavailable`. */
  memberships(): Promise<Memberships>;
}

export interface Memberships {
  /** Logins of the accounts that have the App and something that the person may see. */
  readonly accounts: readonly string[];
  /** `org/slug`, those above them included; null: GitHub does not let the App ask. */
  readonly teams: readonly string[] | null;
}

/** Who says who somebody is. Implemented by github/user-login.ts. */
export interface IdentityProvider {
  /** Where the browser is sent to. `challenge`: PKCE, S256. */
  authorizeUrl(request: {
    readonly state: string;
    readonly challenge: string;
    readonly redirectUrl: string;
  }): string;
  /**
   * Exchanges the code that the browser came back with. Throws `login-refused` for a code that is not (or no longer)
   * good, and `github-unavailable`.
   */
  identify(grant: {
    readonly code: string;
    readonly verifier: string;
    readonly redirectUrl: string;
  }): Promise<Identity>;
}

/**
 * Logging in by GitHub: out with a state and a challenge, back with a code. What belongs together is kept in a cookie
 * of the browser that began (`memo`), so that nobody can be logged in as somebody else by a link (RFC 9700, 4.7).
 */
export interface Login {
  begin(request: { readonly returnTo: string; readonly redirectUrl: string }): {
    readonly url: string;
    readonly memo: string;
  };
  /** Throws `login-refused` and `github-unavailable`. */
  finish(back: {
    readonly memo: string | null;
    readonly state: string | undefined;
    readonly code: string | undefined;
    readonly redirectUrl: string;
  }): Promise<{ readonly identity: Identity; readonly returnTo: string }>;
}

const memoSchema = z.object({ state: z.string(), verifier: z.string(), returnTo: z.string() });

const random = (): string => randomBytes(32).toString('base64url');

export function createLogin(provider: IdentityProvider): Login {
  return {
    begin({ returnTo, redirectUrl }) {
      const [state, verifier] = [random(), random()];
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const memo = { state, verifier, returnTo: localPath(returnTo) } satisfies z.input<typeof memoSchema>;
      return {
        url: provider.authorizeUrl({ state, challenge, redirectUrl }),
        memo: Buffer.from(JSON.stringify(memo)).toString('base64url'),
      };
    },

    async finish({ memo, state, code, redirectUrl }) {
      const begun = memo === null ? null : readMemo(memo);
      if (begun === null || state === undefined || !isSame(begun.state, state)) {
        throw loginRefused('This way back belongs to no login that was begun in this browser.');
      }
      if (code === undefined) throw loginRefused('GitHub was not allowed to say who you are.');
      const identity = await provider.identify({ code, verifier: begun.verifier, redirectUrl });
      return { identity, returnTo: localPath(begun.returnTo) };
    },
  };
}

export function loginRefused(message: string): UserError {
  return new UserError('login-refused', message, { hint: 'Begin again at the login page.' });
}

function readMemo(memo: string): z.output<typeof memoSchema> | null {
  try {
    return memoSchema.parse(JSON.parse(Buffer.from(memo, 'base64url').toString()));
  } catch {
    return null;
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A longer one would make a cookie that browsers drop, and the login would never end. */
const maxReturnTo = 2000;

/** A path of this server, or its front page: a login must not end on a page of somebody else. */
export function localPath(wanted: string): string {
  // Browsers take "\" for "/", skip tabs and line breaks, and "//host" is another server.
  if (wanted.length > maxReturnTo) return '/';
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return '/';
  return wanted;
}
