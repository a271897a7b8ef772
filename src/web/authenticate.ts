import type { Actor } from '../access/actor.ts';
import type { Tokens } from '../access/tokens.ts';
import { problem } from './problem.ts';
import { type BrowserSessions, formTokenHeader, requireOwnPage } from './ui/browser-session.ts';

export type Authentication =
  | { readonly kind: 'actor'; readonly actor: Actor; readonly credential: Credential }
  | { readonly kind: 'anonymous' }
  /** Credentials were given and are worth nothing (any more). */
  | { readonly kind: 'invalid' }
  | { readonly kind: 'expired' };

/** By what somebody is known: a token of the API, or the session of a browser. */
export interface Credential {
  readonly kind: 'token' | 'session';
  readonly id: string;
}

export const credentialKey = ({ kind, id }: Credential): string => `${kind}:${id}`;

export interface Authenticators {
  readonly tokens: Pick<Tokens, 'authenticate'>;
  readonly browserSessions: Pick<BrowserSessions, 'of'>;
}

/**
 * Who sends the request: by its bearer token, else by the session of the browser. Throws `forbidden` for what would
 * change something and does not come from a page of ours.
 */
export async function authenticate(
  request: Request,
  { tokens, browserSessions }: Authenticators,
): Promise<Authentication> {
  const header = request.headers.get('authorization');
  if (header === null) return bySession(request, browserSessions);
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  const actor = token === undefined ? null : await tokens.authenticate(token);
  if (actor === null) return { kind: 'invalid' };
  if (actor === 'expired') return { kind: 'expired' };
  return { kind: 'actor', actor, credential: { kind: 'token', id: actor.id } };
}

async function bySession(
  request: Request,
  browserSessions: Authenticators['browserSessions'],
): Promise<Authentication> {
  const session = await browserSessions.of(request);
  if (!session) return { kind: 'anonymous' };
  if (!['GET', 'HEAD'].includes(request.method)) {
    requireOwnPage(request, session, request.headers.get(formTokenHeader));
  }
  return { kind: 'actor', actor: session.actor, credential: { kind: 'session', id: session.record.id } };
}

const details = {
  anonymous: 'This needs a token.',
  invalid: 'The token is not valid.',
  expired: 'The token has expired.',
} as const;

export function unauthenticated(kind: keyof typeof details): Response {
  const wrong = kind !== 'anonymous';
  return problem('unauthenticated', {
    detail: details[kind],
    hint: 'Send "Authorization: Bearer <token>"; `slipway token create` makes one.',
    headers: { 'www-authenticate': `Bearer realm="slipway"${wrong ? ', error="invalid_token"' : ''}` },
  });
}
