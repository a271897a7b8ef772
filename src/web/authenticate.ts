import type { Actor } from '../access/actor.ts';
import type { Tokens } from '../access/tokens.ts';
import { problem } from './problem.ts';

export type Authentication =
  | { readonly kind: 'actor'; readonly actor: Actor }
  | { readonly kind: 'anonymous' }
  /** Credentials were given and are worth nothing (any more). */
  | { readonly kind: 'invalid' };

/** Who sends the request, by its bearer token. Sessions of the UI will be a second way in, here. */
export async function authenticate(
  request: Request,
  tokens: Pick<Tokens, 'authenticate'>,
): Promise<Authentication> {
  const header = request.headers.get('authorization');
  if (header === null) return { kind: 'anonymous' };
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  const actor = token === undefined ? null : await tokens.authenticate(token);
  return actor ? { kind: 'actor', actor } : { kind: 'invalid' };
}

export function unauthenticated(kind: 'anonymous' | 'invalid'): Response {
  const wrong = kind === 'invalid';
  return problem('unauthenticated', {
    detail: wrong ? 'The token is not valid.' : 'This needs a token.',
    hint: 'Send "Authorization: Bearer <token>"; `slipway token create` makes one.',
    headers: { 'www-authenticate': `Bearer realm="slipway"${wrong ? ', error="invalid_token"' : ''}` },
  });
}
