/** Who sent a request, by its Authorization header. */
import { jwtProblem, undecodable } from './jwt.ts';
import type { Account, GithubState, InstallationToken } from './state.ts';

export type Caller =
  | { kind: 'none' }
  | { kind: 'app' }
  | { kind: 'installation'; token: InstallationToken }
  | { kind: 'user'; account: Account }
  /** Credentials were given and are worthless; GitHub says so even where none are needed. */
  | { kind: 'refused'; message: string };

export function identify(state: GithubState, authorization: string | undefined): Caller {
  if (!authorization) return { kind: 'none' };
  const [scheme = '', value = ''] = authorization.split(/\s+/);
  if (scheme.toLowerCase() === 'basic') return byToken(state, basicPassword(value));
  if (!['bearer', 'token'].includes(scheme.toLowerCase())) return badCredentials;
  const isJwt = !/^gh[a-z]_/.test(value) && value.split('.').length === 3;
  if (!isJwt) return byToken(state, value);
  const problem = jwtProblem(state, value);
  return problem === null ? { kind: 'app' } : { kind: 'refused', message: problem };
}

function byToken(state: GithubState, value: string): Caller {
  const account = state.userTokens.get(value);
  if (account) return { kind: 'user', account };
  const token = state.tokens.get(value);
  if (!token || token.expiresAtMs <= state.nowMs()) return badCredentials;
  if (!state.installations.has(token.installation.id)) return badCredentials;
  return { kind: 'installation', token };
}

/** Git sends `x-access-token:<token>`; whatever stands before the colon, GitHub takes the password. */
function basicPassword(encoded: string): string {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  return decoded.slice(decoded.indexOf(':') + 1);
}

const badCredentials: Caller = { kind: 'refused', message: 'Bad credentials' };

/** What an endpoint for Apps answers to everybody else. */
export const appTokenNeeded = undecodable;
